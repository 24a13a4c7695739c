import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Platform } from '../../src/hooks/adapters.ts'
import type { Patience } from '../../src/rail/events.ts'
import type { RailSession } from '../../src/rail/session.ts'
import { type HookJson, makeSession } from './_session.ts'

/** A chain with one step that has a check, and one with a gate and a guard. */
export const release = {
  release: {
    metadata: [
      'chain: |',
      '  implement check="sh check.sh"',
      '  publish gate guard="Bash(git push:*) mcp__host__merge"',
    ],
    body: 'The overview.',
  },
  implement: { body: 'Write done.txt.' },
  publish: { body: 'Push the branch.' },
}

export type Session = ReturnType<typeof makeSession>

export function makeRelease(client: Platform = 'claude', patience?: Patience): Session {
  const session = makeSession(release, client, patience)
  session.write('check.sh', 'test -f done.txt\n')
  return session
}

export const railsOf = ({ home }: Session): string => join(home, '.local/state/skillrail/rails')

export function railFile(session: Session): string {
  const directory = railsOf(session)
  const [name = ''] = readdirSync(directory).filter((file) => file.endsWith('.json'))
  return join(directory, name)
}

export function railOf(session: Session): RailSession {
  return JSON.parse(readFileSync(railFile(session), 'utf8'))
}

export const told = (answer: HookJson | undefined): string =>
  `${answer?.systemMessage ?? ''}${answer?.hookSpecificOutput?.additionalContext ?? ''}`

/** Ends turns as long as the agent is kept going; each reason arrives as a prompt, too. */
export async function turnsUntilEnd(session: Session): Promise<number> {
  for (let blocks = 0; blocks < 20; blocks++) {
    const answer = await session.stop()
    if (answer?.decision !== 'block') return blocks
    await session.prompt(answer.reason ?? '')
  }
  return 20
}
