import { longestText, numberIn, objectIn, optionalTextIn, textIn } from './input.ts'
import type { OfferedAnnotations, OfferedTool } from './model.ts'
import { acts, inputOf, nameOf, wordsOf } from './offered-schema.ts'
import { batchTools, callOne, chainTools, doInWords } from './tool-calls.ts'
import type { McpWorld } from './world.ts'

/**
 * They change nothing that is the user's. Where nothing is known yet they start the servers to ask them,
 * and a request in words goes to the endpoint for embeddings, if one is configured.
 */
const asks: OfferedAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
}

const tool = nameOf('As find_tools gives it.')
const params = { type: 'object', description: 'The parameters of the tool.' }
const request = {
  type: 'string',
  maxLength: longestText,
  description:
    'What the user asked for, as it was typed: workflows that go by keywords look at it.',
}

const guarded =
  'What a project wants to come first (a workflow) runs first. A tool that may change something needs the yes of the user.'

/** The tools of other servers, found by words and called behind the gate of the project. */
export function serverTools(world: McpWorld): OfferedTool[] {
  const { tools } = world
  return [
    {
      name: 'find_tools',
      title: 'Find tools',
      description:
        'Finds the tool of the MCP servers of this project for a request in words, with the parameters that the words give it. Decision: answer (one fits), shortlist (several may), ask (none fits).',
      inputSchema: inputOf(
        {
          request: wordsOf('What to do, in words.'),
          limit: { type: 'integer', minimum: 1, maximum: 50, description: 'Default 5.' },
        },
        ['request'],
      ),
      outputSchema: {
        type: 'object',
        properties: {
          decision: { type: 'string', enum: ['answer', 'shortlist', 'ask'] },
          tool: { type: 'string' },
          params: { type: 'object' },
          missing: { type: 'array', items: { type: 'string' } },
          margin: { type: 'number' },
          candidates: {
            type: 'array',
            items: {
              type: 'object',
              properties: { tool: { type: 'string' }, score: { type: 'number' } },
              required: ['tool', 'score'],
            },
          },
        },
        required: ['decision', 'candidates'],
      },
      annotations: asks,
      async run(input, { signal }) {
        const value = await tools.route(
          textIn(input, 'request'),
          numberIn(input, 'limit', 5),
          signal,
        )
        return { text: JSON.stringify(value), value }
      },
    },
    {
      name: 'describe_tool',
      title: 'Describe a tool',
      description:
        'Gives the parameters of a tool, what its server says of it, and the workflows that stand before it.',
      inputSchema: inputOf({ tool }, ['tool']),
      annotations: asks,
      async run(input, { signal }) {
        return { text: JSON.stringify(await tools.describe(textIn(input, 'tool'), signal)) }
      },
    },
    {
      name: 'call_tool',
      title: 'Call a tool',
      description: `Calls one tool of a server of this project. ${guarded}`,
      inputSchema: inputOf(
        {
          tool,
          params,
          request,
        },
        ['tool'],
      ),
      annotations: acts,
      run: (input, call) =>
        callOne(
          world,
          {
            tool: textIn(input, 'tool'),
            params: objectIn(input, 'params'),
            request: optionalTextIn(input, 'request'),
          },
          call,
        ),
    },
    {
      name: 'do_request',
      title: 'Do a request',
      description: `Finds the right tool for a request in words, and calls it. ${guarded}`,
      inputSchema: inputOf(
        {
          request: wordsOf('What to do, in words.'),
        },
        ['request'],
      ),
      annotations: acts,
      run: (input, call) => doInWords(world, textIn(input, 'request'), call),
    },
    {
      name: 'batch_tools',
      title: 'Call several tools',
      description: `Calls up to 10 tools, one after the other; one that fails does not stop the others. ${guarded}`,
      inputSchema: inputOf({ tools: stepsSchema(false, 10), request }, ['tools']),
      annotations: acts,
      run: (input, call) => batchTools(world, input, call),
    },
    {
      name: 'chain_tools',
      title: 'Chain tools',
      description: `Calls up to 5 tools in order, each with the answers of those before: a parameter "$name" or "$name.field" takes the answer that an earlier one keeps as output_as. It ends at the first failure. ${guarded}`,
      inputSchema: inputOf({ tools: stepsSchema(true, 5), request }, ['tools']),
      annotations: acts,
      run: (input, call) => chainTools(world, input, call),
    },
  ]
}

function stepsSchema(keeps: boolean, most: number): OfferedTool['inputSchema'] {
  const kept = { type: 'string', description: 'A name for its answer.' }
  return {
    type: 'array',
    minItems: 1,
    description: `At most ${most}.`,
    items: inputOf({ tool, params, ...(keeps ? { output_as: kept } : {}) }, ['tool']),
  }
}
