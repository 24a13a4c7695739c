import type { Check, CheckContext } from '../core/check.ts'
import { findProgram } from '../exec/find-program.ts'
import { adapters } from './adapters.ts'
import { bestRun, hooksStatus, type PlatformStatus, probeHook, type Registered } from './status.ts'

/**
 * Whether the hook of each client is registered and will run.
 *
 * @param probe call the hook as every client would, and look at what comes back.
 */
export async function checkHooks({ runtime }: CheckContext, probe: boolean): Promise<Check[]> {
  const {
    launcher,
    probe: call,
    platforms,
  } = await hooksStatus(runtime, {
    findProgram: (name) => findProgram(name, runtime),
  })
  const registered = platforms.filter(isRegistered)
  if (registered.length === 0) {
    return [
      {
        name: 'hooks',
        status: 'information',
        found: 'no client calls the hook',
        advice: 'skillrail hooks install lets references arrive before the model runs.',
      },
    ]
  }
  const works = launcher.state === 'current' && call?.ok === true
  const checks: Check[] = [
    {
      name: 'hook launcher',
      status: works ? 'ok' : 'warning',
      found: `${launcher.path}: ${call?.problem ?? `${launcher.state}, ${call?.durationMs ?? 0} ms a call`}`,
      advice: works ? undefined : 'skillrail hooks install brings it up to date.',
    },
    ...registered.map(checkPlatform),
  ]
  if (!probe) return checks
  for (const { platform } of registered) {
    const {
      ok,
      durationMs,
      problem = `answered in ${durationMs} ms`,
    } = await probeHook(runtime, platform)
    checks.push({
      name: `${adapters[platform].title} probe`,
      status: ok ? 'ok' : 'warning',
      found: problem,
    })
  }
  return checks
}

function isRegistered({ user, project }: PlatformStatus): boolean {
  return user.state !== 'absent' || project.state !== 'absent'
}

function checkPlatform(status: PlatformStatus): Check {
  const { title, user, project, program } = status
  const places = [user, project].filter(({ state }) => state !== 'absent')
  const bad = places.filter(({ state }) => state !== 'installed')
  const run = bestRun(status)
  const waits = run?.answer === 'no' && program !== undefined
  const reason = run === undefined || run.answer === 'yes' ? [] : [run.reason]
  const step = run === undefined || run.answer === 'yes' ? undefined : run.step
  return {
    name: `${title} hook`,
    status: bad.length > 0 || waits ? 'warning' : 'ok',
    found: [...places.map(placeText), ...reason].join('; '),
    advice: bad.length > 0 ? 'skillrail hooks install fixes it.' : step,
  }
}

function placeText(place: Registered): string {
  return 'reason' in place ? `${place.path}: ${place.reason}` : place.path
}
