// The transcript in words: what is said about a turn, and all of it as plain text. Pure.

import {clock, ms, plural, secs} from "./format.js";

/** Whether a row stands in the transcript: attempts to make the ticket do not, the ticket lists them. */
export const inTranscript = (row) => !(row.kind === "mark" && row.lane === "tools");

/** Say how much of an interrupted reply was heard: "Interrupted: heard 1.8 s of 4.2 s". */
export function interruption(row) {
  if (!row.interrupted) return "";
  if (row.heard_ms === null || row.heard_ms === undefined) return "Interrupted";
  if (row.heard_ms <= 0) return "Interrupted before anything was heard";
  return row.total_ms
    ? `Interrupted: heard ${secs(row.heard_ms)} of ${secs(row.total_ms)}`
    : `Interrupted: heard ${secs(row.heard_ms)}`;
}

/** The share of a reply that was heard, 0 to 1; null where that is not known. */
export const heardShare = (row) =>
  row.interrupted && row.total_ms && Number.isFinite(row.heard_ms)
    ? Math.min(1, Math.max(0, row.heard_ms / row.total_ms))
    : null;

/** What a tool gave back, with how long it took: "→ 2 articles, 410 ms". */
export function toolResult(row) {
  const parts = [row.output ?? (row.pending ? "running" : row.note || "no output came")];
  if (Number.isFinite(row.ms)) parts.push(`${Math.round(row.ms)} ms`);
  return `\u2192\u00a0${parts.join(", ")}`;
}

/** What there is to say about something that happened between turns; of a handoff, how long the caller waited. */
export function remark(row) {
  const wait = Number.isFinite(row.gap_ms) ? `${ms(row.gap_ms)} from the caller's last word to the new agent's first` : "";
  return [row.note, wait].filter(Boolean).join(", ");
}

function words(row) {
  if (row.kind === "tool") return `${row.call} ${toolResult(row)}`;
  if (row.kind !== "turn") return [row.text, remark(row)].filter(Boolean).join(", ");
  const said = row.inaudible ? "[inaudible]" : [row.text, row.tail].filter(Boolean).join(" ");
  const notes = [interruption(row), row.unheard && `not heard: ${row.unheard}`, row.note].filter(Boolean).join("; ");
  return notes ? `${said} [${notes}]` : said;
}

/** One row as announced when it is final, or as a line of text: "Caller (typed): words". */
export function spoken(row) {
  const name = row.kind === "turn" || row.kind === "tool" ? `${row.name}${row.typed ? " (typed)" : ""}: ` : "";
  return name + words(row);
}

/**
 * The transcript as plain text, a line a row: "0:01.2  Caller: Hi".
 * @param {Array<object>} rows
 * @param {function(number): number} since log clock to seconds of the call
 * @param {number} earlier rows before these that the page does not hold
 */
export function plainText(rows, since, earlier = 0) {
  const lines = rows
    .filter(inTranscript)
    .map((row) => `${row.seeded ? "before" : clock(since(row.at))}  ${spoken(row)}`);
  if (earlier) lines.unshift(`(${plural(earlier, "earlier row")}: in call.log)`);
  return lines.join("\n");
}
