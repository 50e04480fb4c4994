// The panel's entry: an anywidget comes as one module, so the other files are loaded here from the trait `_parts`.

const IMPORT = /from "\.\/([\w-]+\.js)"/g;

/** Names of the files that a source imports, in its order. */
export const importsOf = (source) => Array.from(source.matchAll(IMPORT), (match) => match[1]);

/**
 * Order files so that each comes after what it imports.
 * @param {Object<string, string>} sources
 * @param {string} entry
 * @returns {string[]} the entry last; throws an Error that names a file that is missing or imports itself
 */
export function inOrder(sources, entry) {
  const done = [];
  const visit = (name, path) => {
    if (done.includes(name)) return;
    if (path.includes(name))
      throw new Error(`${[...path, name].join(" imports ")}: modules must not import in a circle`);
    if (!(name in sources)) throw new Error(`${name} is missing from the panel's files`);
    for (const needed of importsOf(sources[name])) visit(needed, [...path, name]);
    done.push(name);
  };
  visit(entry, []);
  return done;
}

/** Import a file whose imports are other files of `sources`, each as a module of its own from a Blob. */
export async function load(sources, entry = "app.js") {
  const urls = {};
  try {
    for (const name of inOrder(sources, entry)) {
      const text = sources[name].replace(IMPORT, (_, needed) => `from "${urls[needed]}"`);
      urls[name] = URL.createObjectURL(
        new Blob([text, `\n//# sourceURL=handoffkit/${name}\n`], {type: "text/javascript"}),
      );
    }
    return await import(/* webpackIgnore: true */ urls[entry]);
  } finally {
    for (const url of Object.values(urls)) URL.revokeObjectURL(url);
  }
}

/** Say in the panel's place why there is none. */
function explain(el, error) {
  const box = document.createElement("p");
  box.setAttribute("role", "alert");
  box.style.cssText = "margin:0;padding:8px 12px;border:1px solid currentColor;border-radius:3px";
  box.textContent =
    `The call panel could not be drawn: ${error?.message ?? error}. Run the cell again; if that does not ` +
    "help, reload the page. The call itself goes on in the kernel, and the cell's code still works.";
  el.replaceChildren(box);
}

/** The anywidget factory: everything that the views of one model share lives in this closure. */
export default () => {
  let opened = null;

  const open = (model) => {
    opened ??= (async () => {
      const sources = model.get("_parts") ?? {};
      const app = await load(sources);
      return {app, shared: app.createShared({model, sources})};
    })();
    return opened;
  };

  const close = () => {
    const was = opened;
    opened = null;
    was?.then(
      ({shared}) => shared.dispose(),
      () => {},
    );
  };

  return {
    async initialize({model}) {
      await open(model).catch(() => {}); // render says it, where it can be seen
      return close;
    },
    async render({model, el}) {
      let gone = false;
      let unmount = () => {};
      const cleanup = () => {
        gone = true;
        unmount();
      };
      try {
        const {app, shared} = await open(model);
        if (!gone) unmount = app.mountPanel({shared, el});
      } catch (error) {
        opened = null;
        explain(el, error);
      }
      return cleanup;
    },
  };
};
