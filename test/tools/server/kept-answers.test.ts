import { isSpecType } from '@modelcontextprotocol/server'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type JsonObject, objectOf } from '../../../src/core/json.ts'
import { ToolCallError, ToolRefusedError } from '../../../src/tools/errors.ts'
import type { ToolContent } from '../../../src/tools/model.ts'
import { decodeError, encodeError } from '../../../src/tools/server/kept-process.ts'
import { readOutcome, readTools } from '../../../src/tools/server/read-answers.ts'
import { callResult, listedTool } from '../../../src/tools/server/write-answers.ts'

const base64 = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'))
const media = { mimeType: fc.option(fc.string(), { nil: undefined }) }
const object: fc.Arbitrary<JsonObject> = fc.dictionary(fc.string(), fc.jsonValue()).map(asSent)
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.string() }),
  fc.record({ type: fc.constantFrom('image', 'audio'), data: base64, ...media }),
  fc.record({ type: fc.constant('resource_link'), uri: fc.string(), name: fc.string(), ...media }),
  fc.record({
    type: fc.constant('resource'),
    resource: fc.record(
      { uri: fc.string(), text: fc.string(), blob: base64, ...media },
      { requiredKeys: ['uri'] },
    ),
  }),
  fc.record({ type: fc.constant('hologram'), depth: fc.integer() }),
)

/** As it arrives at another process. */
function asSent(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value))
}

it('reads the same outcome from a result that `tools serve` forwards', () => {
  fc.assert(
    fc.property(
      fc.record(
        { content: fc.array(block), structuredContent: fc.jsonValue(), isError: fc.boolean() },
        { requiredKeys: ['content'] },
      ),
      (result) => {
        const { problems: _, ...outcome } = readOutcome(asSent(result))
        expect(readOutcome(asSent(callResult(outcome)))).toEqual(asSent(outcome))
      },
    ),
  )
})

it('writes a resource without contents as the server sent it', () => {
  const resource: ToolContent = { type: 'resource', uri: 'file:///a' }
  const { content } = callResult({ isError: false, content: [resource], size: 0 })
  expect(content).toEqual([{ type: 'resource', resource: { uri: 'file:///a' } }])
})

it('reads the same tools from a list that `tools serve` forwards', () => {
  const annotations = fc.record(
    { title: fc.string(), readOnlyHint: fc.boolean(), destructiveHint: fc.boolean() },
    { requiredKeys: [] },
  )
  const tool = fc.record(
    {
      name: fc.stringMatching(/^[a-z_]{1,20}$/),
      title: fc.string(),
      description: fc.oneof(fc.string(), fc.constant('x'.repeat(70_000))),
      inputSchema: object,
      outputSchema: object,
      annotations,
    },
    { requiredKeys: ['name'] },
  )
  fc.assert(
    fc.property(fc.array(tool), (listed) => {
      const { tools } = readTools('a', listed.map(asSent))
      const written = tools.map((one) => listedTool(one, 'key', isSpecType.Tool)).map(asSent)
      expect(written.every((one) => isSpecType.Tool(one))).toBe(true)
      const again = readTools(
        'a',
        written.map((one) => objectOf(one['_meta'])['key'] ?? one),
      )
      expect(again).toEqual({ tools: tools.map((one) => asSent(one)), problems: [] })
    }),
  )
})

it('keeps the code, the exit code and the failure of an error between processes', () => {
  const failed = new ToolCallError(
    { kind: 'timeout', message: 'late', delivered: 'unknown', stderrTail: 'x' },
    { hint: 'wait' },
  )
  const refused = new ToolRefusedError({ code: 'tool-not-allowed', message: 'no' })
  for (const error of [failed, refused]) {
    const read = decodeError(asSent(encodeError(error)))
    const { code, message, hint, exitCode } = error
    expect(read).toMatchObject({ code, message, hint, exitCode })
    expect(read instanceof ToolCallError && read.failure).toEqual(
      error instanceof ToolCallError && error.failure,
    )
  }
  expect(decodeError({ code: 'x', message: 'y', exitCode: 77 })).toBeUndefined()
})
