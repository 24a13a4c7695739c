import { defineCommand, option } from '#core/command'
import { type Diagnostic, exitCode, UsageError, wrongUse } from '#core/errors'
import { amount, cell, safeLine } from '#core/text'
import {
  forgetExamples,
  learnedPath,
  type LearnedExample,
  learnExample,
  readLearned,
  weightOf,
} from '#tools/route/learned'
import { hearing, knownTools, type ToolContext, toolNamed, toolProject } from './project-tools.ts'

export const add = defineCommand<{
  example: LearnedExample
  diagnostics?: readonly Diagnostic[] | undefined
}>()({
  arguments: {
    '<request>': 'the request, in your words',
    '<tool>': 'the tool to select: SERVER__TOOL, or a unique name',
  },
  options: {
    wrong: option.flag('--wrong', 'the request does not mean this tool'),
  },
  examples: ['tools learn add "what is on my plate" github__list_issues'],
  async run(context, { arguments: [request = '', name = ''], wrong }) {
    const { found, diagnostics } = await hearing(context, async (heard) => {
      const { index } = await knownTools(heard)
      return await toolNamed(name, { index }, heard)
    })
    const example = await learnExample(placeOf(context), { request, tool: found.tool.id, wrong })
    if (!example) {
      const message = 'the request has no words to learn'
      throw new UsageError({ code: 'request-empty', message })
    }
    return diagnostics.length === 0 ? { example } : { example, diagnostics }
  },
  render({ example: { request, tool, wrong } }) {
    return `Learned: "${safeLine(request)}" ${wrong ? 'is not' : 'is'} ${safeLine(tool)}\n`
  },
  notes: ({ diagnostics = [] }) => diagnostics,
})

export const list = defineCommand<{
  path: string
  examples: readonly (LearnedExample & { weight: number })[]
  diagnostics: readonly Diagnostic[]
}>()({
  options: {},
  examples: ['tools learn list'],
  async run(context) {
    const place = placeOf(context)
    const { examples, diagnostics } = readLearned(place)
    const now = context.runtime.now()
    return {
      path: learnedPath(place),
      examples: examples.map((example) => ({ ...example, weight: weightOf(example, now) })),
      diagnostics,
    }
  },
  render({ examples }, screen) {
    if (examples.length === 0) return ''
    const rows = examples.map(({ tool, wrong, request, count, weight }) => [
      safeLine(tool),
      wrong ? 'not' : '',
      cell(request, Math.max(20, screen.width - 60)),
      `${count} x`,
      weight.toFixed(2),
    ])
    return screen.table([['TOOL', '', 'REQUEST', 'SAID', 'WEIGHT'], ...rows])
  },
  notes: ({ examples, diagnostics }) => [
    diagnostics,
    `${amount(examples.length, 'example')} learned in this project`,
  ],
})

interface Forgotten {
  removed: number
  wanted?: readonly string[] | undefined
}

export const remove = defineCommand<Forgotten>()({
  arguments: { '[request]': 'the request, as `tools learn list` shows it' },
  options: {
    tool: option.text('--tool <id>', 'only of this tool; without a request, all of it'),
  },
  examples: ['tools learn remove "what is on my plate" --tool github__list_issues'],
  async run(context, { arguments: [request], tool }) {
    if (request === undefined && tool === undefined) {
      const hint = '`skillrail tools learn clear` forgets everything.'
      throw wrongUse('a request, a tool, or both are needed', hint)
    }
    const removed = await forgetExamples(
      placeOf(context),
      (example) =>
        (request === undefined || example.request.toLowerCase() === request.toLowerCase()) &&
        (tool === undefined || example.tool === tool || example.tool.endsWith(`__${tool}`)),
    )
    const wanted = [request, tool].filter((part) => part !== undefined)
    return removed > 0 ? { removed } : { removed, wanted }
  },
  exitCode: ({ removed }) => (removed > 0 ? exitCode.done : exitCode.notFound),
  render: ({ removed }) => (removed > 0 ? forgottenLine(removed) : ''),
  notes: ({ wanted }) => [
    wanted && { failure: `Nothing like that was learned: ${wanted.join(', ')}.` },
    wanted && { failure: '`skillrail tools learn list` shows what was.' },
  ],
})

export const clear = defineCommand<Forgotten>()({
  options: {},
  examples: ['tools learn clear'],
  async run(context) {
    const place = placeOf(context)
    const { examples, diagnostics } = readLearned(place)
    const isEmpty = examples.length === 0 && diagnostics.length === 0
    return { removed: isEmpty ? 0 : await forgetExamples(place, () => true) }
  },
  render: ({ removed }) => forgottenLine(removed),
})

function placeOf(context: ToolContext) {
  return { project: toolProject(context), runtime: context.runtime }
}

function forgottenLine(count: number) {
  return `Forgotten: ${amount(count, 'example')}.\n`
}
