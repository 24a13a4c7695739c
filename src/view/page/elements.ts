export type Child = Node | string | undefined | readonly Child[]

export interface Properties {
  class?: string | undefined
  title?: string | undefined
  type?: string | undefined
  label?: string | undefined
  placeholder?: string | undefined
  hidden?: boolean | undefined
  /** Where in this page it leads, by words of its address. */
  to?: readonly string[] | undefined
  onClick?: (() => void) | undefined
  onInput?: (() => void) | undefined
}

/**
 * An element. A text becomes a text and never markup, and an address leads nowhere but within the
 * page, so that nothing a skill or a tool says can act.
 */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  const {
    class: classes,
    title,
    type,
    label,
    placeholder,
    hidden,
    to,
    onClick,
    onInput,
  } = properties
  if (classes !== undefined) element.className = classes
  if (title !== undefined) element.title = title
  if (type !== undefined) element.setAttribute('type', type)
  if (label !== undefined) element.setAttribute('aria-label', label)
  if (placeholder !== undefined) element.setAttribute('placeholder', placeholder)
  if (hidden === true) element.hidden = true
  if (to !== undefined) element.setAttribute('href', addressOf(to))
  if (onClick !== undefined) element.addEventListener('click', onClick)
  if (onInput !== undefined) element.addEventListener('input', onInput)
  fill(element, ...children)
  return element
}

/** Puts these in the place of whatever an element holds. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...flat(children))
}

function flat(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === undefined) return []
    return typeof child === 'string' || child instanceof Node ? [child] : flat(child)
  })
}

export function addressOf(words: readonly string[]): string {
  return `#/${words.map(encodeURIComponent).join('/')}`
}
