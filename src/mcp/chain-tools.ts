import type { JsonObject } from '../tools/model.ts'
import {
  acts,
  inputOf,
  longestText,
  nameOf,
  numbersIn,
  plainJson,
  reads,
  textIn,
  textsIn,
} from './input.ts'
import type { ClientCall, OfferedTool, ToolAnswer } from './model.ts'
import { requireScripts } from './ask-user.ts'
import { untrustedNote } from './skill-tools.ts'
import type { ChainAnswer, ChainSurroundings, McpWorld } from './world.ts'

const answerSchema = {
  type: 'object',
  properties: {
    run: { type: 'string' },
    status: { type: 'string' },
    next: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          step: { type: 'string' },
          skill: { type: 'string' },
          attempt: { type: 'integer' },
        },
        required: ['step', 'skill', 'attempt'],
      },
    },
    waiting: {
      type: 'object',
      properties: { step: { type: 'string' }, line: { type: 'string' } },
      required: ['step', 'line'],
    },
    result: { type: 'object' },
    dismissed: {
      type: 'object',
      properties: {
        step: { type: 'string' },
        code: { type: 'string' },
        message: { type: 'string' },
      },
      required: ['step', 'code', 'message'],
    },
  },
  required: ['run', 'status'],
} as const

const runId = nameOf('As chain_start gave it.')

/** A chain of skills, handed to the model one step at a time. */
export function chainTools({ chains, yes }: McpWorld): OfferedTool[] {
  const surroundings = ({ ask, signal }: ClientCall): ChainSurroundings => ({
    signal,
    permit: (run) => requireScripts(run, ask, yes),
  })
  return [
    {
      name: 'chain_start',
      title: 'Start a chain',
      description:
        'Starts a chain of skills and gives the instructions of its first step. Do what they say, then report it with chain_report: only then comes the next one. Steps that are scripts run by themselves, after the yes of the user.',
      inputSchema: inputOf(
        {
          skill: nameOf('The name of the chain.'),
          arguments: { type: 'array', items: { type: 'string' }, description: 'For every step.' },
          require_verified: {
            type: 'boolean',
            description: 'A success needs more than your word. Default false.',
          },
        },
        ['skill'],
      ),
      outputSchema: answerSchema,
      annotations: acts,
      async run(input, call) {
        const requireVerified = input['require_verified'] === true
        const options = { requireVerified, ...surroundings(call) }
        return said(
          await chains.start(textIn(input, 'skill'), textsIn(input, 'arguments'), options),
        )
      },
    },
    {
      name: 'chain_report',
      title: 'Report a step',
      description:
        'Reports what came of the step that was handed out, and gives the next one. A report about any other step is refused.',
      inputSchema: inputOf(
        {
          run: runId,
          step: nameOf('The one that was handed out.'),
          status: { type: 'string', enum: ['success', 'failure', 'critical'] },
          result: {
            type: 'string',
            maxLength: longestText,
            description: 'What was done, in a sentence.',
          },
          errors: { type: 'array', items: { type: 'string' }, description: 'What is wrong.' },
          metrics: {
            type: 'object',
            additionalProperties: { type: 'number' },
            description: 'Numbers about it, by name.',
          },
        },
        ['run', 'step', 'status'],
      ),
      outputSchema: answerSchema,
      annotations: acts,
      async run(input, call) {
        const status = input['status']
        const report = {
          runId: textIn(input, 'run'),
          step: textIn(input, 'step'),
          status: status === 'failure' || status === 'critical' ? status : 'success',
          result: textIn(input, 'result'),
          errors: textsIn(input, 'errors'),
          metrics: numbersIn(input, 'metrics'),
        } as const
        return said(await chains.report(report, surroundings(call)))
      },
    },
    {
      name: 'chain_next',
      title: 'Continue a chain',
      description: 'Gives the step that is to be done now once more, also after a restart.',
      inputSchema: inputOf({ run: runId }, ['run']),
      outputSchema: answerSchema,
      annotations: acts,
      run: async (input, call) => said(await chains.next(textIn(input, 'run'), surroundings(call))),
    },
    {
      name: 'chain_status',
      title: 'Show a chain',
      description: 'Shows how a run stands: what is done, what waits. Runs nothing.',
      inputSchema: inputOf({ run: runId }, ['run']),
      annotations: reads,
      async run(input) {
        const { runId: run = null, ...status } = await chains.status(textIn(input, 'run'))
        return { text: JSON.stringify({ run, ...status }) }
      },
    },
  ]
}

function said(answer: ChainAnswer): ToolAnswer {
  const { dismissed, notes } = answer
  const { text, value } = standing(answer)
  if (dismissed === undefined) return { text, value, notes }
  const { step, message } = dismissed
  const first = `The report about ${step} came too late and does not count: ${message}.`
  return { text: `${first}\n\n${text}`, value: { ...value, dismissed }, notes }
}

function standing(answer: ChainAnswer): { text: string; value: JsonObject } {
  const { runId: run } = answer
  switch (answer.kind) {
    case 'next': {
      const texts = answer.next.map(
        ({ step, skill, content, trusted }) =>
          `${trusted ? '' : `${untrustedNote(skill)}\n\n`}${content}\n\nStep ${step} of run ${run}. When it is done, call chain_report with run ${JSON.stringify(run)} and step ${JSON.stringify(step)}.`,
      )
      const next = answer.next.map(({ step, skill, attempt }) => ({ step, skill, attempt }))
      return { text: texts.join('\n\n'), value: { run, status: 'next', next } }
    }
    case 'waiting': {
      const { step, line } = answer
      const text = `${step} waits for a user, and this server cannot approve it. A user types: ${line}\nThen continue with chain_next.`
      return { text, value: { run, status: 'waiting', waiting: { step, line } } }
    }
    case 'ended': {
      const { status, result } = answer
      const text = `The chain has ended: ${status}.\n${JSON.stringify(result)}`
      return { text, value: plainJson({ run, status, result }) }
    }
  }
}
