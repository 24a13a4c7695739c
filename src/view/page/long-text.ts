import type { TextAnswer } from '../answers/common.ts'
import { make } from './elements.ts'
import { count, trouble } from './parts.ts'

/** A text of any length: its beginning at once, each further piece when somebody wants it. */
export function longText(read: (from: number) => Promise<TextAnswer>): HTMLElement {
  const text = make('pre')
  const more = make('button', { type: 'button', class: 'more', hidden: true })
  const whole = make('div', {}, text, more)
  text.tabIndex = 0
  let next = 0
  const load = async (): Promise<void> => {
    more.disabled = true
    try {
      const piece = await read(next)
      text.append(piece.text)
      if (piece.size === 0) text.replaceWith(make('p', { class: 'soft' }, 'It is empty.'))
      next = piece.next ?? 0
      more.hidden = piece.next === undefined
      more.textContent = `Show more (${count(next)} of ${count(piece.size)} characters are shown)`
    } catch (error) {
      more.replaceWith(trouble(error))
    } finally {
      more.disabled = false
    }
  }
  more.addEventListener('click', () => void load())
  void load()
  return whole
}
