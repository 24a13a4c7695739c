import { make } from './elements.ts'

/** What the keys do. */
export function helpDialog(titles: readonly string[]): HTMLDialogElement {
  const close = make('button', { type: 'button' }, 'Close')
  const rows: readonly (readonly [key: string, does: string])[] = [
    ...titles.map((title, at) => [String(at + 1), title] as const),
    ['/', 'search, or type a prompt'],
    ['↑ ↓', 'from row to row'],
    ['Enter', 'open'],
    ['Esc', 'back to the list'],
    ['r', 'read everything again'],
  ]
  const dialog = make(
    'dialog',
    { label: 'Keys' },
    make('h1', {}, 'Keys'),
    make(
      'dl',
      { class: 'facts' },
      rows.map(([key, does]) => [make('dt', {}, make('kbd', {}, key)), make('dd', {}, does)]),
    ),
    close,
  )
  close.addEventListener('click', () => dialog.close())
  return dialog
}
