import { approvalWaits, type ListedRail } from '#chain/listed-run'
import type { Runtime } from '#core/runtime'
import { type RailSession, readRails, type Standing } from './session.ts'

/** Returns the open rails of a project as lists show them, by run. Those that cannot be read are left out. */
export function listedRails(workspace: string, runtime: Runtime): ReadonlyMap<string, ListedRail> {
  const rails = readRails(runtime).flatMap((reading) =>
    reading.kind === 'rail' && reading.rail.workspace === workspace ? [reading.rail] : [],
  )
  return new Map(rails.map((rail) => [rail.runId, listedRail(rail)]))
}

function listedRail({ client, standing, step, gate }: RailSession): ListedRail {
  return {
    client,
    step: step?.step ?? gate?.step,
    waitsFor: waits[standing],
  }
}

/** What continues a rail; nothing after its end. */
const waits: Readonly<Record<Standing, string | undefined>> = {
  working: 'the agent',
  running: 'a script',
  checking: 'its check',
  checked: 'your next prompt',
  ended: undefined,
  failed: 'a new start or rail stop',
  approval: approvalWaits,
  'check-failed': 'rail retry or rail accept',
  continue: 'your next prompt',
  question: 'your answer',
  stuck: 'you to correct what rail status says',
  paused: 'rail resume',
}
