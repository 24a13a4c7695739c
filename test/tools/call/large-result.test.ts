import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { shownCall } from '../../../src/tools/call/call-result.ts'
import { callTool } from '../../../src/tools/call/call-tool.ts'
import { text, toolFixture } from './_fake.ts'

it('names the file of an answer that is too large to print', async () => {
  const directory = join(mkdtempSync(join(tmpdir(), 'large-result-')), 'results')
  const letters = 'x'.repeat(1_048_577)
  const { context } = toolFixture([{ name: 'get_log', answer: () => text(letters) }])
  const report = await callTool({ tool: 'get_log', params: {} }, context)
  const shown = await shownCall(report, { directory, now: 0 }, false)
  if (shown.status !== 'success') throw new Error('the call failed')
  const saved = shown.summary.find((line) => line.startsWith('Saved: '))?.slice('Saved: '.length)
  expect(readFileSync(saved ?? '', 'utf8')).toBe(letters)
  expect(shown.result).toEqual({ path: saved, size: letters.length })
})
