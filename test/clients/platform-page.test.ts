import { expect, it } from 'vitest'
import { checkNames } from './checks.ts'
import { platformPage } from './platform-page.ts'

const results = checkNames.map((name) => ({ name, ok: true, detail: '' }))
const all = platformPage([
  { client: 'gemini', version: '1.0.0', results },
  { client: 'claude', version: '2.0.0', results },
])

function row(page: string, title: string): string | undefined {
  return page.split('\n').find((line) => line.startsWith(`| ${title} |`) && !line.includes('`'))
}

it('writes the rows in the order of the clients', () => {
  expect(all.indexOf('| Claude Code | 2.0.0 |')).toBeGreaterThan(0)
  expect(all.indexOf('| Claude Code | 2.0.0 |')).toBeLessThan(all.indexOf('| Gemini CLI | 1.0.0 |'))
})

it('keeps the rows of clients that were not run', () => {
  const failed = results.map((result) => ({ ...result, ok: result.name !== 'uninstalled' }))
  const page = platformPage([{ client: 'gemini', version: '1.1.0', results: failed }], all)
  expect(row(page, 'Claude Code')).toBe(row(all, 'Claude Code'))
  expect(row(page, 'Gemini CLI')).toMatch(/^\| Gemini CLI \| 1\.1\.0 \|.*\*\*no\*\* \|/)
  expect(platformPage([], page)).toBe(page)
})

it('drops rows with other columns than the current ones', () => {
  const other = all.replace('| injected once |', '| injected |')
  expect(row(platformPage([], other), 'Claude Code')).toBeUndefined()
})
