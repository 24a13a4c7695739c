import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Diagnostic } from '#core/errors'
import { amount, count } from '#core/text'
import type { TextAnswer } from '#view/questions'
import { AskError } from './server.ts'

export { amount, count }

export type Child = ComponentChildren

/** An address within the page. No text from a skill or a tool becomes any other address. */
export function addressOf(words: readonly string[]): string {
  return `#/${words.map(encodeURIComponent).join('/')}`
}

export function Chip({ text, kind = text }: { text: string; kind?: string }) {
  return <span class={`chip ${kind.replaceAll(' ', '-')}`}>{text}</span>
}

/** Rows of a label and a value; rows without a value are left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, Child])[] }) {
  const present = rows.filter(([, value]) => value !== undefined && value !== '')
  return (
    <dl class="facts">{present.map(([label, value]) => [<dt>{label}</dt>, <dd>{value}</dd>])}</dl>
  )
}

export function Section({ title, children }: { title: Child; children: Child }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

interface TableProperties {
  head: readonly string[]
  rows: readonly (readonly Child[])[]
}

export function Table({ head, rows }: TableProperties) {
  if (rows.length === 0) return <p class="soft">None.</p>
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {head.map((text) => (
              <th>{text}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((child, column) => (
                // On a narrow screen each cell shows its label.
                <td data-label={head[column]}>{child}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export function Typed({ line, what }: { line: string; what?: string | undefined }) {
  const [label, setLabel] = useState('Copy')
  const copy = (): void => {
    navigator.clipboard.writeText(line).then(
      () => setLabel('Copied'),
      () => setLabel('Select it'),
    )
  }
  return (
    <div class="type">
      {what !== undefined && <span class="soft">{what}</span>}
      <code>{line}</code>
      <button type="button" onClick={copy}>
        {label}
      </button>
    </div>
  )
}

const maxFindings = 50

export function Findings({ list }: { list: readonly Diagnostic[] }) {
  if (list.length === 0) return null
  const rest = list.length - maxFindings
  return (
    <ul class="plain">
      {list.slice(0, maxFindings).map(({ severity, message, code, path, line, hint }) => (
        <li>
          <Chip text={severity} /> {message}{' '}
          <code class="soft">{`${place(message, path, line)}[${code}]`}</code>
          {hint !== undefined && <div class="soft">{hint}</div>}
        </li>
      ))}
      {rest > 0 && <li class="soft">and {count(rest)} more</li>}
    </ul>
  )
}

/** Returns the place, unless the message contains it. */
function place(message: string, path: string, line: number | undefined) {
  if (!message.includes(path)) return `${path}${line === undefined ? '' : `:${line}`} `
  return line === undefined ? '' : `line ${line} `
}

export function Trouble({ error }: { error: unknown }) {
  const message = (error instanceof Error ? error.message : String(error)).replace(/^error: /i, '')
  const first = message.slice(0, 1).toUpperCase() + message.slice(1)
  const hint = error instanceof AskError && error.hint !== undefined ? `\n${error.hint}` : ''
  return (
    <p class="note bad" role="alert">
      {`${first}${/[.!?:]$/.test(first) ? '' : '.'}${hint}`}
    </p>
  )
}

export function Empty({ text, line }: { text: string; line: string }) {
  return (
    <div class="empty">
      <p>{text}</p>
      <Typed line={line} />
    </div>
  )
}

export function Clock({ iso }: { iso: string }) {
  const date = new Date(iso)
  const isToday = date.toDateString() === new Date().toDateString()
  const shown = isToday ? date.toLocaleTimeString() : date.toLocaleString()
  return <time title={iso}>{Number.isNaN(date.getTime()) ? iso : shown}</time>
}

/** The button that shows the next items of a long list; nothing when all of them are shown. */
export function More(properties: { rest: number; size: number; onMore(): void }) {
  const { rest, size, onMore } = properties
  if (rest <= 0) return null
  return (
    <button type="button" class="more" onClick={onMore}>
      {`Show ${count(Math.min(size, rest))} more of ${count(rest)}`}
    </button>
  )
}

/** A text of any length: its beginning at once, and each further piece on request. */
export function LongText({ read }: { read(from: number): Promise<TextAnswer> }) {
  const [shown, setShown] = useState<TextAnswer>()
  const [error, setError] = useState<unknown>()
  const load = (from: number): void => {
    read(from).then(
      (piece) => setShown((before) => ({ ...piece, text: (before?.text ?? '') + piece.text })),
      setError,
    )
  }
  useEffect(() => load(0), [])
  if (error !== undefined) return <Trouble error={error} />
  if (shown?.size === 0) return <p class="soft">It is empty.</p>
  const { text, size = 0, next } = shown ?? {}
  return (
    <div>
      <pre tabIndex={0}>{text}</pre>
      {next !== undefined && (
        <button type="button" class="more" onClick={() => load(next)}>
          {`Show more (${count(next)} of ${count(size)} characters are shown)`}
        </button>
      )}
    </div>
  )
}
