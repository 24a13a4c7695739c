import { defineCommand, option, type Screen } from '#core/command'
import { localTime, sinceTime } from '#core/local-time'
import { amount, count, linesText, safeLine } from '#core/text'
import type { ChainEvent } from '#chain/engine'
import { adapters, isPlatform } from '#hooks/adapters'
import {
  type ClientUsage,
  type RailUsage,
  type SkillUsage,
  type Usage,
  usageOf,
} from '#project/usage'

export const command = defineCommand<Usage, ChainEvent>()({
  options: {
    since: option.text('--since <time>', 'from then on: 12h, 30d, 2w or a date', {
      default: '30d',
    }),
    project: option.flag('--project', 'only sessions in this project'),
  },
  details:
    'Reads the log of the hook, the transcripts of Claude Code and Codex, and the runs of this project. Nothing is sent anywhere.\n\n' +
    'given: the hook injected the file. read: the agent opened it, with a tool or a command, or the client gave it a called skill. ran: it was a step, or the chain, of a run.\n\n' +
    'The tokens are the numbers that the model’s service reported to the client. What the hook gave is estimated, with four characters for each token.',
  examples: ['usage --since 30d'],
  async run(context, { since, project }) {
    const from = sinceTime('--since', since, context.runtime.now())
    return await usageOf(context, { since: from, isProjectOnly: project })
  },
  render(usage, screen) {
    const { skills, clients, rails, since, project, hookLog } = usage
    const where = project === undefined ? '' : ` in ${safeLine(project)}`
    const parts = [
      linesText([`Since ${timeText(since)}${where}`]),
      skillsText(skills, screen),
      clientsText(clients, screen),
      railsText(rails, usage.deniedWithoutRail, screen),
    ]
    const notes = [
      hookLog.isShortened &&
        hookLog.from !== undefined &&
        `The log of the hook begins at ${timeText(hookLog.from)}: ${safeLine(hookLog.path)}`,
    ]
    return [...parts, linesText(notes)].filter((part) => part !== '').join('\n')
  },
  notes: ({ diagnostics, hookLog: { unreadable, path } }) => [
    ...diagnostics,
    unreadable > 0 && `${amount(unreadable, 'line')} of ${path} could not be read`,
  ],
})

function timeText(time: string): string {
  return localTime(Date.parse(time))
}

function skillsText(skills: readonly SkillUsage[], screen: Screen): string {
  if (skills.length === 0) return 'No skill is installed here.\n'
  const usedSkills = skills.filter(({ lastUsed }) => lastUsed !== undefined)
  const unusedSkills = skills.filter(({ lastUsed }) => lastUsed === undefined)
  const rows = usedSkills.flatMap(({ name, given, read, ran, lastUsed, files }) => [
    [safeLine(name), count(given), count(read), count(ran), lastText(lastUsed)],
    ...files.map((file) => {
      return [
        `  ${safeLine(file.path)}`,
        count(file.given),
        count(file.read),
        '',
        lastText(file.lastUsed),
      ]
    }),
  ])
  const head = ['skill', 'given', 'read', 'ran', 'last used']
  const names = unusedSkills.map(({ name }) => safeLine(name)).join(', ')
  const never = `Never used: ${unusedSkills.length} of ${amount(skills.length, 'skill')}: ${names}`
  const table = rows.length === 0 ? '' : screen.table([head, ...rows])
  return table + linesText([unusedSkills.length > 0 && never])
}

function lastText(time: string | undefined): string {
  return time === undefined ? 'never' : timeText(time)
}

function clientsText(clients: readonly ClientUsage[], screen: Screen): string {
  const readable = clients.filter(({ transcripts }) => transcripts === 'read')
  const rows = readable.flatMap(({ title, sessions, models, injected }) => {
    const client = [title, count(sessions)]
    const fromHook = tokensText(injected)
    if (models.length === 0) return [[...client, ...Array.from({ length: 6 }, () => ''), fromHook]]
    return models.map(({ model, calls, tokens }, index) => {
      const { input, cacheRead, cacheWrite, output } = tokens
      const numbers = [calls, input, cacheRead, cacheWrite, output].map(count)
      const isFirst = index === 0
      return [
        ...(isFirst ? client : ['', '']),
        safeLine(model),
        ...numbers,
        isFirst ? fromHook : '',
      ]
    })
  })
  const head = [
    'client',
    'sessions',
    'model',
    'calls',
    'input',
    'cache read',
    'cache write',
    'output',
    'from the hook',
  ]
  const others = clients.filter(({ transcripts }) => transcripts !== 'read')
  const notRead = others.map(({ title, injected }) => {
    const fromHook = injected.events === 0 ? '' : ` (${tokensText(injected)} tokens from the hook)`
    return `${title}${fromHook}`
  })
  const line = `Transcripts that are not read: ${notRead.join(', ')}`
  const table = rows.length === 0 ? '' : screen.table([head, ...rows])
  return table + linesText([notRead.length > 0 && line])
}

function tokensText({ tokens }: ClientUsage['injected']): string {
  return tokens === 0 ? '0' : `about ${count(tokens)}`
}

function railsText(rails: readonly RailUsage[], deniedWithoutRail: number, screen: Screen): string {
  const rows = rails.map((rail) => [
    rail.runId,
    safeLine(rail.chain),
    isPlatform(rail.client) ? adapters[rail.client].title : safeLine(rail.client),
    rail.status,
    `${count(rail.denied)} denied`,
    `${count(rail.keptWorking)} kept working`,
    timeText(rail.updatedAt),
  ])
  const head = ['rail', 'chain', 'client', 'status', 'calls', 'ends of turns', 'last event']
  const others = `Denied without a rail: ${amount(deniedWithoutRail, 'call')}`
  const table = rows.length === 0 ? '' : screen.table([head, ...rows])
  return table + linesText([deniedWithoutRail > 0 && others])
}
