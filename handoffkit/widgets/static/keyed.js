// Children of one element, one per item, kept over changes: the same item keeps the same DOM node.

/**
 * Keep an element's children in step with a list of items.
 * @param {Element} parent all of its children belong to the list
 * @param {function(object): Element} make a new child for an item (`item.id` is its key)
 * @returns {function(Array<{id: string}>, function(Element, object)): Map<string, Element>} takes the items of now and
 *   what to do with each child; returns the children by id
 */
export function keyed(parent, make) {
  const held = new Map();
  return (items, draw) => {
    const wanted = new Set(items.map((item) => item.id));
    for (const [id, el] of held) {
      if (wanted.has(id)) continue;
      el.remove();
      held.delete(id);
    }
    let next = parent.firstElementChild;
    for (const item of items) {
      const el = held.get(item.id) ?? make(item);
      held.set(item.id, el);
      draw(el, item);
      if (el === next) next = el.nextElementSibling;
      else parent.insertBefore(el, next);
    }
    return held;
  };
}
