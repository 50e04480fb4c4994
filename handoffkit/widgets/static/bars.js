/**
 * Rows of a call as what the timeline draws: bars, gaps, flags and an axis. Pure: rows in, plain objects out.
 *
 * Times that come out are seconds since the call began; widths are CSS pixels.
 */
import {clockShort, ms, plural} from "./format.js";

/** Gaps from here on get a label, and from here on an amber one (ms). */
export const LABEL_MS = 700;
export const LONG_MS = 1000;

const LANES = {caller: 0, agent: 1, tools: 2};
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];
const LETTER = 6.4; // px of one letter at 11 px, rather too wide than too narrow
const THIN = 3; // px: the least width at which a bar is drawn

/**
 * Lay out the axis: a live one has 60 s and then grows, one of an ended call fits the call.
 * @param {{live: boolean, seconds: number, view: number, panel: number}} facts `seconds` is now, or the call's length;
 *   `view` the width of the strip and `panel` of the whole panel (px).
 * @returns {{span: number, rate: number, track: number, live: boolean}} span in s, rate in px/s, track in px.
 */
export const axis = ({live, seconds, view, panel}) => {
  const width = Math.max(view, 1);
  const least = live ? (panel < 900 ? 14 : 0) : panel < 520 ? 12 : 0;
  const whole = live ? Math.max(60, Math.ceil((seconds + 6) / 10) * 10) : Math.max(1, seconds * 1.04);
  const span = live && least ? Math.max(width / least, seconds + 4) : whole;
  const rate = Math.max(width / span, least);
  return {span, rate, track: Math.max(width, Math.round(span * rate)), live};
};

/**
 * Say where the axis has lines, and with which words: 0 first, then those between `from` and `to`.
 * @param {{span: number, rate: number, live: boolean}} scale
 * @returns {Array<{at: number, label: string}>}
 */
export const ticks = (scale, from, to, view) => {
  const room = Math.max(56, view / 9);
  const step = STEPS.find((s) => s * scale.rate >= room && (!scale.live || s >= 10)) ?? STEPS.at(-1);
  const found = [{at: 0, label: clockShort(0)}];
  const begin = Math.max(1, Math.ceil(from / step));
  for (let n = begin; n * step <= Math.min(to, scale.span); n += 1)
    found.push({at: n * step, label: clockShort(n * step)});
  return found;
};

const bar = (row, look, from, to, part = "") => ({
  id: `bar:${row.k}${part}`,
  keys: [row.k],
  lane: LANES[row.lane],
  who: row.who,
  look,
  from,
  to: Math.max(from, to),
});

const openEnd = (row, end, now) => (now === null ? end : row.pending ? now : Math.min(end, now));

/** The two bars of a reply that was cut: what was heard, and what nobody heard, as far as the strip goes. */
const cutBars = (row, from, end, until) => {
  const heard = row.heard_ms === null || row.heard_ms === undefined ? end : from + row.heard_ms / 1000;
  const whole = Math.min(Math.max(end, from + (row.total_ms || 0) / 1000), until);
  const parts = [];
  if (heard > from) parts.push(bar(row, "cut", from, heard));
  if (whole > heard) parts.push(bar(row, "unheard", heard, whole, ":unheard"));
  return parts;
};

const LOOKS = {inaudible: "inaud", late: "late", tool: "tool", fail: "fail", ok: "ok"};

const barsOf = (row, since, now, until) => {
  const from = since(row.at);
  const end = openEnd(row, since(row.end ?? row.at), now);
  if (row.interrupted && row.lane === "agent") return cutBars(row, from, end, until);
  const look = row.inaudible ? "inaud" : (LOOKS[row.look] ?? (row.pending && now !== null ? "open" : "plain"));
  return [bar(row, look, from, end)];
};

/**
 * Turn rows into bars, in the order of the rows.
 * @param {Array<object>} rows rows of the contract; those without a lane, and given history, have no bar.
 * @param {(at: number) => number} since log clock to seconds of the call.
 * @param {number|null} now seconds of a live call, null after it.
 * @param {number} until seconds of the call where the strip ends.
 */
export const bars = (rows, since, now, until = Infinity) =>
  rows.flatMap((row) => (row.lane in LANES && !row.seeded && !isFlag(row) ? barsOf(row, since, now, until) : []));

/** Join bars of one lane that would be drawn over each other because they are thinner than a bar can be. */
export const merged = (list, rate) => {
  const last = [null, null, null];
  const kept = [];
  for (const one of list) {
    const before = last[one.lane];
    if (before && joins(before, one, rate)) {
      before.to = Math.max(before.to, one.to);
      before.keys.push(...one.keys);
    } else kept.push((last[one.lane] = {...one, keys: [...one.keys]}));
  }
  return kept;
};

const joins = (a, b, rate) => {
  if (a.who !== b.who || a.look !== b.look || a.look === "cut") return false;
  const thin = (a.to - a.from) * rate < THIN || (b.to - b.from) * rate < THIN;
  return thin && b.from * rate < Math.max(a.to * rate, a.from * rate + THIN) + 1;
};

/** The waits before replies, drawn on the caller's lane: `{id, from, to, label, long}`. */
export const gaps = (rows, since) =>
  rows
    .filter((row) => row.gap_ms > 0 && row.lane === "agent" && !row.seeded)
    .map((row) => ({
      id: `gap:${row.k}`,
      from: since(row.at) - row.gap_ms / 1000,
      to: since(row.at),
      label: row.gap_ms >= LABEL_MS ? ms(row.gap_ms) : "",
      long: row.gap_ms >= LONG_MS,
    }));

const isFlag = (row) => row.kind === "over" || (row.kind === "mark" && ["flag", "good", "bad"].includes(row.look));

const short = (words) => {
  const last = words
    .split("→")
    .at(-1)
    .trim()
    .replace(/ agent$/, "");
  return last.length > 22 ? `${last.slice(0, 21)}…` : last;
};

const toneOf = (row) => (row.bad || row.look === "bad" ? "bad" : row.look === "good" ? "ok" : "");

/** The flag at the end of the attempt that made the ticket; a clean end of the call then needs none of its own. */
const ticketFlag = (rows, since) => {
  const row = rows.findLast((one) => one.lane === "tools" && one.kind === "mark" && one.look === "ok");
  return row ? [{id: `flag:${row.k}`, keys: [row.k], at: since(row.end), who: "o", label: "Ticket", tone: "ok"}] : [];
};

/** What happened at a moment: `{id, keys, at, label, tone}`; tone is "" (a handoff), "ok" or "bad". */
export const flags = (rows, since) => {
  const ticket = ticketFlag(rows, since);
  const moments = rows.filter((row) => isFlag(row) && !(ticket.length && row.look === "good"));
  const made = moments.map((row) => ({
    id: `flag:${row.k}`,
    keys: [row.k],
    at: since(row.at),
    who: row.who,
    label: short((row.look === "flag" && row.kind === "over" && row.who !== "o" && row.name) || row.text),
    tone: toneOf(row),
  }));
  return [...made, ...ticket];
};

const takesOver = (row) => row.kind === "over" && row.look === "flag" && row.who !== "o";

/**
 * Say who had the call when, in calls that were handed over: `{id, from, to, who}`, from the first reply on.
 * @param {number} until seconds of the call where a reign ends that goes on.
 */
export const reigns = (rows, since, until) => {
  const found = [];
  let call = [];
  const close = (at) => {
    const last = call.at(-1);
    if (last && last.to === null) last.to = Math.max(last.from, at);
  };
  const begin = (row) => {
    close(since(row.at));
    call.push({id: `reign:${row.k}`, from: since(row.at), to: null, who: row.who, handed: takesOver(row)});
  };
  const end = (at) => {
    close(at);
    if (call.some((one) => one.handed)) found.push(...call.map(({handed, ...reign}) => reign));
    call = [];
  };
  for (const row of rows) {
    if (takesOver(row) || (!call.length && row.lane === "agent" && !row.seeded)) begin(row);
    else if (row.kind === "over") end(since(row.at));
  }
  end(until);
  return found;
};

const boxesMeet = (a, b) => a.left < b.right && b.left < a.right;
const around = (at, half) => ({left: at - half, right: at + half});

/** Choose the side of each flag's label; one that would cover its neighbour's goes without ("label" is ""). */
export const placeFlags = (list, scale, now) => {
  const taken = [];
  const nowBox = now === null ? null : around(now * scale.rate, 20);
  return list.map((flag) => {
    const at = flag.at * scale.rate;
    const width = flag.label.length * LETTER + 27;
    const right = {left: at, right: at + width};
    const left = {left: at - width, right: at};
    const free = (box) => box.left >= 0 && box.right <= scale.track && !taken.some((other) => boxesMeet(box, other));
    const calm = (box) => free(box) && !(nowBox && boxesMeet(box, nowBox));
    const box = [right, left].find(calm) ?? [right, left].find(free) ?? null;
    if (box && flag.label) taken.push(box);
    return {...flag, label: box ? flag.label : "", side: box === left ? "left" : "right", box: flag.label ? box : null};
  });
};

/** Take the label from each gap where it would hit a bar of the caller's, another gap, a flag, the cursor or the end. */
export const placeGaps = (list, drawn, flagged, cursors, scale) => {
  const px = (a, b) => ({left: a * scale.rate, right: b * scale.rate});
  const walls = [
    ...drawn.filter((one) => one.lane === 0).map((one) => px(one.from, one.to)),
    ...flagged.map((flag) => around(flag.at * scale.rate, 1)),
    ...cursors.map((at) => around(at * scale.rate, 1)),
  ].sort((a, b) => a.left - b.left);
  return list.map((gap, n) => {
    if (!gap.label) return gap;
    const left = gap.to * scale.rate + 4;
    const box = {left, right: left + gap.label.length * LETTER + 4};
    const next = list[n + 1] ? px(list[n + 1].from, list[n + 1].to) : null;
    const hit = box.right > scale.track || (next && boxesMeet(box, next)) || walls.some((wall) => boxesMeet(box, wall));
    return hit ? {...gap, label: ""} : gap;
  });
};

/** Take the words from each tick that stands under a flag's label or a cursor's. */
export const placeTicks = (list, flagged, cursors, scale) =>
  list.map((tick, n) => {
    const at = tick.at * scale.rate;
    const width = tick.label.length * LETTER;
    const box = n === 0 ? {left: 0, right: width} : around(at, width / 2);
    const walls = [
      ...flagged.map((flag) => flag.box).filter(Boolean),
      ...cursors.map((c) => around(c * scale.rate, 18)),
    ];
    return box.right > scale.track + 12 || walls.some((wall) => boxesMeet(box, wall)) ? {...tick, label: ""} : tick;
  });

/** One sentence that says what the picture shows. */
export const summary = (rows, seconds) => {
  const said = rows.filter((row) => row.kind === "turn" && !row.seeded);
  const longest = Math.max(0, ...said.map((row) => row.gap_ms ?? 0));
  const counts = [
    [said.filter((row) => row.lane === "caller").length, "caller turn"],
    [said.filter((row) => row.lane === "agent").length, "agent turn"],
    [rows.filter((row) => row.kind === "tool").length, "tool call"],
    [rows.filter((row) => row.kind === "over" && row.look === "flag").length, "handoff"],
  ];
  const words =
    counts
      .filter(([n]) => n > 0)
      .map(([n, noun]) => plural(n, noun))
      .join(", ") || "nothing was said yet";
  return `Timeline, ${plural(Math.round(seconds), "second")}: ${words}.${longest ? ` Longest wait ${ms(longest)}.` : ""}`;
};
