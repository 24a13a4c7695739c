import { adapters, type HookAdapter, type Platform } from './adapters.ts'

interface TurnLimit {
  /** A client ends the turn at this many blocks in a row; undefined: no limit was met. */
  blocks?: number
  /** Whether a tool call starts the count again. */
  restartsAtTool?: true
  /**
   * How long a hook at the end of a turn was tried to take, in milliseconds; longer checks go on
   * alone.
   */
  checkMs: number
}

/** What each client allows at the end of a turn; tried with the versions in docs/clients.md. */
export const turnLimits: Partial<Record<Platform, TurnLimit>> = {
  claude: { blocks: 8, restartsAtTool: true, checkMs: 30_000 },
  codex: { checkMs: 30_000 },
  copilot: { blocks: 8, checkMs: 25_000 },
  gemini: { checkMs: 25_000 },
  opencode: { checkMs: 20_000 },
  pi: { checkMs: 20_000 },
  qwen: { blocks: 7, checkMs: 25_000 },
}

/** Clients that give subagents sessions of their own, without naming the parent at a tool call. */
export const unattributed: ReadonlySet<string> = new Set(['copilot', 'opencode'])

/** Clients in whose terminal a process has one session at a time: `/clear` and the like begin another one. */
export const oneSession: ReadonlySet<string> = new Set(['claude', 'gemini', 'pi', 'qwen'])

/** Clients whose hook is asked about some tools only, with these tools. */
const toolsSeen: Partial<Record<Platform, string>> = { cursor: 'reads, edits and commands' }

/**
 * What a client can do for a rail, in words. One table for the command line and the documentation.
 */
export interface RailFacts {
  /** How a user starts the chain `NAME`; undefined if no chain runs as a rail. */
  start: string | undefined
  /** The calls that a guard and a list of tools deny. */
  denies: string
  /** Which calls they do not see. */
  unseen: string | undefined
  /** Seconds that a check may take at the end of a turn; a longer one continues alone. */
  checkSeconds: number | undefined
  /** Steps and failed checks that one turn may have; undefined: no limit was met. */
  blocks: number | undefined
  /** Who shows the user a line. */
  tells: 'the client' | 'the agent'
  /** When the agent gets its step again after a compaction; undefined: never. */
  recalls: string | undefined
  /** Whose rail a subagent obeys. */
  subagents: string
}

export function railFacts(platform: Platform): RailFacts {
  const { events, sigil, tell } = adapters[platform]
  const limit = turnLimits[platform]
  const hasRails = events.stop !== undefined && limit !== undefined
  const seen = toolsSeen[platform]
  return {
    start: hasRails ? chainCalls[sigil] : undefined,
    denies: seen ?? 'every call',
    unseen: seen === undefined ? undefined : 'calls of MCP tools and others',
    checkSeconds: hasRails ? limit.checkMs / 1000 : undefined,
    // The rail ends the turn one before the client would.
    blocks: limit?.blocks === undefined ? undefined : limit.blocks - 1,
    tells: tell === undefined ? 'the agent' : 'the client',
    recalls: recallOf(adapters[platform]),
    subagents: unattributed.has(platform) ? 'every open rail of the project' : 'that of its parent',
  }
}

function recallOf({ events, callsRemembered }: HookAdapter): string | undefined {
  if (events.compact === 'SessionStart') return 'at once'
  if (events.compact !== undefined) return 'with its next call or your next prompt'
  return callsRemembered === undefined ? undefined : `after ${callsRemembered} calls`
}

/** Something that a client cannot do for a rail, in a sentence for a user. */
export interface RailLimit {
  about: 'rails' | 'calls' | 'turns' | 'checks' | 'lines' | 'compaction' | 'subagents'
  text: string
}

export function railLimits(platform: Platform): RailLimit[] {
  const { start, unseen, checkSeconds, blocks, tells, recalls, subagents } = railFacts(platform)
  const { callsRemembered } = adapters[platform]
  const sentences: Record<RailLimit['about'], string | false> = {
    rails:
      start === undefined &&
      'No chain runs as a rail: it reports no end of a turn. An agent does the steps with skillrail chain start.',
    calls:
      unseen !== undefined &&
      `Its hook does not see ${unseen}: no guard, workflow or trigger on a tool applies to them.`,
    turns:
      blocks !== undefined &&
      `A turn has at most ${blocks} steps and failed checks; your next prompt continues.`,
    checks:
      checkSeconds !== undefined &&
      `A check that takes longer than ${checkSeconds} s continues alone; your next prompt gets its result.`,
    lines: tells === 'the agent' && 'It shows no lines of the hook; the agent says them.',
    compaction:
      recalls === undefined
        ? 'After a compaction the agent does not get its step again.'
        : callsRemembered !== undefined &&
          `It reports no compaction: the agent gets its step again ${recalls}, and its name with each prompt.`,
    subagents: unattributed.has(platform) && `A subagent obeys ${subagents}.`,
  }
  const abouts = ['rails', 'calls', 'turns', 'checks', 'lines', 'compaction', 'subagents'] as const
  return abouts.flatMap((about) => {
    const text = sentences[about]
    // Without rails nothing else about them matters.
    const isMeant = start !== undefined || about === 'rails' || about === 'calls'
    return text === false || !isMeant ? [] : [{ about, text }]
  })
}

/** How users of a client call a chain. */
export const chainCalls = {
  slash: '/NAME',
  expanded: '/NAME',
  dollar: '$NAME',
  'skill-colon': '/skill:NAME',
} as const
