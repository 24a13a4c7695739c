import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { logFileBytes, readLog, StepLog } from '../../src/chain/step-runner.ts'
import { logPath } from '../../src/chain/step-runner.ts'
import { printedText } from '../../src/core/printed-text.ts'
import { commandsIn } from './_command.ts'
import { makeProject, type TestProject } from './_project.ts'

describe('printed output', () => {
  it.each([
    ['\u001b[32mPASS\u001b[0m', 'PASS'],
    ['10%\r50%\r100%', '100%'],
    ['10%\r100%\r\nnext\r\n', '100%\nnext\n'],
    ['done\r', 'done'],
    ['\u001b]8;;http://h\u0007link\u001b]8;;\u0007', 'link'],
    ['plain\ttext\n', 'plain\ttext\n'],
  ])('is reduced to the text that a terminal would show: %j', (text, expected) => {
    expect(printedText(text)).toBe(expected)
  })

  it('contains no escape sequence and no carriage return, and loses no line', () => {
    const pieces = fc.constantFrom(
      'a',
      'ü',
      ' ',
      '\n',
      '\r',
      '\r\n',
      '\u001b[1;31m',
      '\u001b[K',
      '\u001b[0m',
    )
    fc.assert(
      fc.property(
        fc.array(pieces).map((parts) => parts.join('')),
        (text) => {
          const shown = printedText(text)
          expect(shown).not.toMatch(/[\u001b\r]/)
          expect(shown.split('\n')).toHaveLength(text.split('\n').length)
        },
      ),
    )
  })
})

let project: TestProject
let directory: string
beforeEach(() => {
  project = makeProject()
  directory = mkdtempSync(join(tmpdir(), 'skillrail-log-'))
})
afterEach(() => {
  project.remove()
  rmSync(directory, { recursive: true })
})
const { command, skills } = commandsIn(() => project)

describe('a step', () => {
  it('has a result without colours and without overwritten progress', async () => {
    skills({
      good: { run: String.raw`printf '1%%\r99%%\r\033[32mPASS\033[0m\n\033[0m'` },
      bad: { run: String.raw`printf '\033[31mboom\033[0m\r\n' >&2; exit 3` },
      main: { metadata: ['chain: good bad'] },
    })
    const { json } = await command('run main --json')
    expect(json.attempts[0]?.steps).toMatchObject([
      { result: 'PASS' },
      { result: 'boom', errors: [{ message: 'exit code 3: boom' }] },
    ])
  })

  it('gets NO_COLOR, and the value of CI that the caller has', async () => {
    skills({ main: { run: 'echo "$NO_COLOR/$CI"' } })
    const resultOf = async (env?: Record<string, string>): Promise<unknown> =>
      (await command('run main --json', { env })).json.attempts[0]?.steps[0]
    expect(await resultOf()).toMatchObject({ result: '1/' })
    expect(await resultOf({ CI: 'true' })).toMatchObject({ result: '1/true' })
    const colored = { FORCE_COLOR: '1', SKILLRAIL_RUN_ENVIRONMENT: 'FORCE_COLOR' }
    expect(await resultOf(colored)).toMatchObject({ result: '/' })
  })

  it('passes on the result of an output block as data, and prints it without escape sequences', async () => {
    skills({
      a: {
        run: String.raw`printf '{"status":"success","result":"\\u001b[32mPASS\\u001b[0m"}\n' > "$SKILLRAIL_OUTPUT"`,
      },
      b: { run: String.raw`grep -c 'u001b.32mPASS' "$SKILLRAIL_STATE"` },
      main: { metadata: ['chain: a b'] },
    })
    const { json } = await command('run main --json')
    expect(json.attempts[0]?.steps).toMatchObject([
      { result: '\u001b[32mPASS\u001b[0m' },
      { result: '1' },
    ])
    const shownAs: string[] = []
    for (const format of ['github', 'html']) {
      await command(`runs show latest --report ${format}=report`)
      shownAs.push(readFileSync(join(project.directory, 'report'), 'utf8'))
    }
    for (const shown of shownAs) {
      expect(shown).toContain('PASS')
      expect(shown).not.toMatch(/\[32m|x1b/)
    }
  })

  it('marks a result that was not UTF-8', async () => {
    skills({
      main: { metadata: ['chain: odd even'] },
      odd: { run: String.raw`printf 'caf\351\n'` },
      even: { run: 'echo café' },
    })
    const { lines, json } = await command('run main --json')
    expect(lines).toBeDefined()
    expect(json.attempts[0]?.steps[0]).toMatchObject({ notUtf8: true })
    expect(json.attempts[0]?.steps[1]).not.toHaveProperty('notUtf8')
    const shown = (await command('runs show latest')).lines
    expect(shown.some((line) => line.includes('odd') && line.includes('not UTF-8'))).toBe(true)
    expect(shown.some((line) => line.includes('even') && line.includes('not UTF-8'))).toBe(false)
  })

  it('reports printed output that was not UTF-8', async () => {
    skills({ main: { run: String.raw`printf 'caf\351\n'` }, fine: { run: 'echo café' } })
    await command('run main')
    expect((await command('runs logs latest')).lines.join('\n')).toContain('not UTF-8')
    await command('run fine')
    expect((await command('runs logs latest')).lines.join('\n')).toContain('café')
    expect((await command('runs logs latest')).lines.join('\n')).not.toContain('not UTF-8')
  })
})

it('a log counts the bytes of its beginning that were not stored', () => {
  const log = new StepLog(logPath(directory, '1:a'), (text) => Buffer.from(text))
  const block = Buffer.from(`${'x'.repeat(1_048_575)}\n`)
  for (let written = 0; written < 3.5 * logFileBytes; written += block.length)
    log.add(block, 'stdout')
  log.close()
  const { text, lostBytes } = readLog(directory, '1:a')
  expect(lostBytes).toBe(2 * logFileBytes)
  expect(text.length).toBe(1.5 * logFileBytes)
})
