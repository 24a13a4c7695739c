import { expect, it } from 'vitest'
import type { ToolOutcome } from '../../../src/tools/model.ts'
import { servedSchemas } from '../../../src/tools/server/served-process.ts'

it('an answer comes through the process that keeps a server as it was', () => {
  const outcome: ToolOutcome = {
    isError: false,
    content: [
      { type: 'text', text: 'a' },
      { type: 'image', mimeType: 'image/png', data: 'AP8=' },
      { type: 'link', uri: 'file:///a', name: 'a' },
    ],
    structured: { a: [1] },
    size: 12,
    problems: [
      { code: 'answer-invalid', message: 'its part 2 is not a block' },
      { code: 'answer-too-deep', message: 'its JSON is nested too deep; it stays text' },
    ],
  }
  const answer = { instance: '1', outcome }
  const sent: unknown = JSON.parse(JSON.stringify(answer))
  expect(servedSchemas().called.parse(sent).outcome).toEqual(outcome)
})
