/** What is seen of one tab while it is open. */
export interface TabView {
  element: HTMLElement
  /** The rest of the address, after the tab's own name. */
  show(rest: readonly string[]): void
  /** Ends work in the background. */
  close?: (() => void) | undefined
}

export interface Tab {
  name: string
  title: string
  open(): TabView
}
