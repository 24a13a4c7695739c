import { expect, it } from 'vitest'
import { createOutput, type Output, type Sink } from '../../src/cli/terminal.ts'

interface Written {
  output: Output
  stdout: () => string
  stderr: () => string
}

function open(terminal: boolean, more: Partial<Parameters<typeof createOutput>[0]> = {}): Written {
  const [stdout, stderr] = [sink(terminal), sink(terminal)]
  const output = createOutput({ stdout, stderr, env: {}, quiet: false, verbose: false, ...more })
  return { output, stdout: () => stdout.text, stderr: () => stderr.text }
}

function sink(isTerminal: boolean): Sink & { text: string } {
  return {
    isTerminal,
    columns: undefined,
    text: '',
    write(text) {
      this.text += text
    },
  }
}

it('styles text on a terminal unless NO_COLOR is set, and elsewhere only with FORCE_COLOR', () => {
  expect(open(true).output.style('red', 'x')).toBe('\u001b[31mx\u001b[39m')
  expect(open(false).output.style('red', 'x')).toBe('x')
  expect(open(true, { env: { NO_COLOR: '1' } }).output.style('red', 'x')).toBe('x')
  expect(open(true, { env: { TERM: 'dumb' } }).output.style('red', 'x')).toBe('x')
  expect(open(false, { env: { FORCE_COLOR: '1' } }).output.style('red', 'x')).toContain('\u001b')
})

it('keeps the styles of a note on a terminal and drops them elsewhere', () => {
  const terminal = open(true)
  terminal.output.styled(terminal.output.style('red', 'x'))
  expect(terminal.stderr()).toBe('\u001b[31mx\u001b[39m\n')
  const file = open(false)
  file.output.styled('\u001b[31mx\u001b[39m')
  expect(file.stderr()).toBe('x\n')
})

it('makes escapes in a plain note visible', () => {
  const { output, stderr } = open(true)
  output.note('\u001b[2Jgone')
  expect(stderr()).toBe('\\x1b[2Jgone\n')
})

it('prints only the result and errors with --quiet', () => {
  const { output, stdout, stderr } = open(true, { quiet: true })
  output.note('a')
  output.styled('b')
  output.live('c')
  output.diagnostics([{ code: 'x', severity: 'warning', message: 'd', path: 'p' }])
  expect(stderr()).toBe('')
  output.diagnostics([{ code: 'x', severity: 'error', message: 'e', path: 'p', line: 2 }])
  output.raw('answer\n')
  expect(stderr()).toContain('p:2: ')
  expect(stdout()).toBe('answer\n')
})

it('rewrites one live line on a terminal and writes none elsewhere', () => {
  const terminal = open(true)
  terminal.output.live('now')
  expect(terminal.stderr()).toBe('\r\u001b[2Know')
  const file = open(false)
  file.output.live('now')
  expect(file.stderr()).toBe('')
})

it('aligns columns by their visible width', () => {
  const { output } = open(true)
  const text = output.table([
    ['name', 'état'],
    [output.style('bold', 'x'), 'long'],
  ])
  expect(text).toBe('name  état\n\u001b[1mx\u001b[22m     long\n')
})

it.each([{ CI: 'true' }, { CI: '1' }])('rewrites no line in CI, even on a terminal: %j', (env) => {
  const { output, stderr } = open(true, { env })
  output.live('now')
  expect([output.isLive, stderr()]).toEqual([false, ''])
})

it('rewrites lines on a terminal if CI is false', () => {
  expect(open(true, { env: { CI: 'false' } }).output.isLive).toBe(true)
})

it('cuts a live line to the columns of the terminal', () => {
  const { output, stderr } = open(true, { env: { COLUMNS: '10' } })
  output.live('検証検証検証検証')
  expect(stderr()).toBe('\r\u001b[2K検証検証…')
})

it('keeps the styles of a note with FORCE_COLOR', () => {
  const { output, stderr } = open(false, { env: { FORCE_COLOR: '1' } })
  output.styled(output.style('red', 'x'))
  expect(stderr()).toBe('\u001b[31mx\u001b[39m\n')
})

it('aligns columns of wide characters', () => {
  const { output } = open(false)
  const text = output.table([
    ['名前', 'x'],
    ['name', 'y'],
  ])
  expect(text).toBe('名前  x\nname  y\n')
})

it('writes nothing to the terminal while a question is open, and everything in order afterwards', () => {
  const { output, stdout, stderr } = open(true)
  output.openQuestion()
  output.note('a note')
  output.live('a line that is redrawn')
  output.styled('a styled line')
  output.raw('a result\n')
  output.diagnostics([{ code: 'x', severity: 'warning', message: 'a warning', path: 'p' }])
  expect({ stdout: stdout(), stderr: stderr() }).toEqual({ stdout: '', stderr: '' })
  output.closeQuestion()
  expect(stdout()).toBe('a result\n')
  expect(stderr()).toMatch(/^a note\na styled line\n.*a warning/)
  expect(stderr()).not.toContain('redrawn')
})

it('does not delay output to a file while a question is open', () => {
  const { output, stdout } = open(false)
  output.openQuestion()
  output.raw('a result\n')
  expect(stdout()).toBe('a result\n')
})
