import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Check } from '../../core/check.ts'
import { messageOf } from '../../core/errors.ts'
import { objectOf } from '../../core/json.ts'
import { packageVersion } from '../../core/runtime.ts'
import { amount } from '../../core/text.ts'
import { ask, requireVersion, type ServerAddress } from '../restate/client.ts'
import { protocolVersion, serviceName, type WorkerReport } from '../restate/protocol.ts'
import { type EngineChoice, serverAddress } from './engine.ts'
import { openProject, type RunContext } from './project.ts'
import { skillsOf } from './worker.ts'

const questions = 12
/** Clocks that differ by more make the times in results misleading. */
const clockToleranceMs = 5000

/** Server, registration, workers, and whether they have the skills of this project. */
export async function checkRestate(context: RunContext, options: EngineChoice): Promise<Check[]> {
  const address = serverAddress(context, options)
  const checks = [checkSdk()]
  try {
    const found = `Restate ${await requireVersion(address)} (${address.adminUrl})`
    checks.push({ name: 'restate server', status: 'ok', found }, await checkIngress(address))
    const registration = await checkRegistration(address)
    checks.push(registration)
    if (registration.status === 'problem') return checks
    checks.push(...(await checkWorkers(context, address)))
  } catch (error) {
    checks.push(problem('restate server', messageOf(error), 'docs/scale.md says how to start one.'))
  }
  return checks
}

function checkSdk(): Check {
  const name = 'restate sdk'
  const { resolve } = createRequire(import.meta.url)
  try {
    const path = resolve('@restatedev/restate-sdk/package.json')
    const { version } = JSON.parse(readFileSync(path, 'utf8'))
    return { name, status: 'ok', found: `@restatedev/restate-sdk ${version}` }
  } catch {
    const found = '@restatedev/restate-sdk is not installed; only a worker needs it'
    return { name, status: 'information', found, advice: 'npm i @restatedev/restate-sdk' }
  }
}

async function checkIngress(address: ServerAddress): Promise<Check> {
  const { status } = await ask(address, 'ingress', '/restate/health')
  const name = 'restate ingress'
  if (status === 200) return { name, status: 'ok', found: address.url }
  return problem(name, `${address.url} answers with HTTP ${status}`, 'Name it with --url.')
}

async function checkRegistration(address: ServerAddress): Promise<Check> {
  const name = 'registration'
  const service = await ask(address, 'admin', `/services/${serviceName}`)
  const id = textAt(service.body, 'deployment_id')
  if (id === undefined) {
    const advice = 'skillrail worker --register http://HOST:PORT'
    return problem(name, 'no Skillrail worker is registered with the server', advice)
  }
  const { body } = await ask(address, 'admin', `/deployments/${id}`)
  const uri = textAt(body, 'uri') ?? 'an unknown address'
  const sdk = textAt(body, 'sdk_version') ?? 'an unknown SDK'
  return { name, status: 'ok', found: `workers at ${uri}, ${sdk}` }
}

async function checkWorkers(context: RunContext, address: ServerAddress): Promise<Check[]> {
  const before = context.runtime.now()
  const answers = await Promise.all(
    Array.from({ length: questions }, async () => await inspect(address)),
  )
  const elapsed = context.runtime.now() - before
  const workers = new Map(answers.flatMap((report) => (report ? [[report.worker, report]] : [])))
  if (workers.size === 0) {
    return [problem('worker', 'none answers', 'skillrail worker starts one.')]
  }
  const own = skillsOf(openProject(context))
  return [...workers.values()].map((report) => checkWorker(report, own, before, elapsed))
}

function checkWorker(
  report: WorkerReport,
  own: WorkerReport['skills'],
  before: number,
  elapsed: number,
): Check {
  const digests = new Set(report.skills.map(({ digest }) => digest))
  const missing = own.filter(({ digest }) => !digests.has(digest)).map(({ name }) => name)
  const ahead = Math.max(before - report.now, report.now - before - elapsed)
  const worries = [
    report.version !== protocolVersion &&
      `it uses protocol version ${report.version}; this Skillrail uses ${protocolVersion}`,
    report.skillrail !== packageVersion() && 'another version of Skillrail',
    ahead > clockToleranceMs && `its clock differs by ${Math.round(ahead / 1000)} s from ours`,
    missing.length > 0 && `it has other versions of ${missing.slice(0, 5).join(', ')}, or none`,
  ].filter((worry) => worry !== false)
  const { worker, host, skillrail, node, clients = [] } = report
  return {
    name: 'worker',
    status: worries.length === 0 ? 'ok' : 'warning',
    found: [
      `${worker} on ${host}: skillrail ${skillrail}, Node ${node}, ${amount(report.skills.length, 'skill')}`,
      ...(clients.length === 0 ? [] : [`can use ${clients.join(', ')}`]),
      ...worries,
    ].join('; '),
    advice: missing.length === 0 ? undefined : 'Ship the same skills to every worker.',
  }
}

async function inspect(address: ServerAddress): Promise<WorkerReport | undefined> {
  const signal = AbortSignal.timeout(10_000)
  try {
    const { status, body } = await ask(address, 'ingress', `/${serviceName}/inspect`, {
      method: 'POST',
      signal,
    })
    return status === 200 && isReport(body) ? body : undefined
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

function isReport(body: unknown): body is WorkerReport {
  return textAt(body, 'worker') !== undefined && textAt(body, 'host') !== undefined
}

function textAt(body: unknown, key: string): string | undefined {
  const { [key]: value } = objectOf(body)
  return typeof value === 'string' ? value : undefined
}

function problem(name: string, found: string, advice: string): Check {
  return { name, status: 'problem', found, advice }
}
