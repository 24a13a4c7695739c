import { type Child, fill, make } from './elements.ts'
import { trouble } from './parts.ts'

export interface SplitView {
  element: HTMLElement
  /**
   * Marks the row of this key and fills the right side with what comes, unless something else was
   * wanted meanwhile. `undefined` shows what stands there while nothing is open, and goes back to the
   * row that was.
   */
  open(key: string | undefined, content: Promise<Child> | undefined): void
}

/** A list, of which one row may be marked. */
interface Rows {
  element: HTMLElement
  select(key: string | undefined): void
  /** Gives the focus to the row of this key, where it is shown. */
  focus(key: string): void
}

/** A list on the left and what is open on the right; on a narrow screen one of them. */
export function splitView(
  list: Rows,
  tab: string,
  resting: Child,
  { overview = false }: { overview?: boolean } = {},
): SplitView {
  const detail = make('div', { class: 'detail' })
  detail.tabIndex = -1
  const classes = overview ? 'split overview' : 'split'
  const element = make('div', { class: classes }, list.element, detail)
  const back = make('a', { class: 'back', to: [tab] }, '← Back to the list')
  let wanted = 0
  let opened: string | undefined
  return {
    element,
    open(key, content) {
      const mine = ++wanted
      const left = opened
      opened = key
      list.select(key)
      element.classList.toggle('open', content !== undefined)
      if (content === undefined) {
        fill(detail, resting)
        if (left !== undefined) list.focus(left)
        return
      }
      const put = (child: Child): void => {
        if (mine !== wanted) return
        fill(detail, back, child)
        detail.scrollTop = 0
        // Whoever types meanwhile goes on typing.
        if (!isField(document.activeElement)) detail.focus({ preventScroll: true })
      }
      content.then(put, (error: unknown) => put(trouble(error)))
    },
  }
}

/** Whether keys that are pressed there are text. */
export function isField(target: unknown): target is HTMLElement {
  return target instanceof HTMLElement && target.matches('input, textarea, select')
}
