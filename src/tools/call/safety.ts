import { readsOnly } from '../cache/reads-only.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { ToolRefusedError } from './errors.ts'
import type { RequestWorld } from './request-world.ts'
import { unnamedPath } from './unnamed-path.ts'

/**
 * Lets a call that was not asked for by its name pass: one that only reads does; any other needs a
 * yes. Where the request does not name the path that is written to, the yes in advance does not
 * count: an earlier answer may have put it there.
 *
 * @returns whether somebody said yes
 * @throws {ToolRefusedError} without a yes
 */
export async function requireYes(
  tool: ToolDefinition,
  params: JsonObject,
  request: string,
  world: RequestWorld,
): Promise<boolean> {
  if (readsOnly(tool, world.context.rules(tool.server).trusted)) return false
  const path = unnamedPath(params, request)
  const unusual = path === undefined ? undefined : `The request does not name the path ${path}.`
  if (world.yes && unusual === undefined) return true
  const answer = await world.person?.confirm({ tool, params, unusual })
  if (answer === true) return true
  throw refusal(tool, params, answer, unusual)
}

/**
 * Looks at a call of a chain again once the answers of earlier steps are in its parameters: the yes
 * was to what the chain says, and a path that only an answer names needs one of its own.
 *
 * @throws {ToolRefusedError} without a yes
 */
export async function requireNamedPaths(
  tool: ToolDefinition,
  params: JsonObject,
  request: string,
  world: RequestWorld,
): Promise<void> {
  if (unnamedPath(params, request) !== undefined) await requireYes(tool, params, request, world)
}

/** Refuses, before anything is called, what nobody could say yes to later. */
export function requireSomebody(
  tools: readonly { tool: ToolDefinition; params: JsonObject }[],
  world: RequestWorld,
): void {
  if (world.yes || world.person !== undefined) return
  for (const { tool, params } of tools) {
    const isSafe = readsOnly(tool, world.context.rules(tool.server).trusted)
    if (!isSafe) throw refusal(tool, params, undefined, undefined)
  }
}

function refusal(
  tool: ToolDefinition,
  params: JsonObject,
  answer: boolean | undefined,
  unusual: string | undefined,
): ToolRefusedError {
  const call = `${tool.id} ${JSON.stringify(params)}`
  if (answer === false) {
    return new ToolRefusedError({ code: 'tool-declined', message: `not called: ${call}` })
  }
  const why = unusual ?? 'It may change something.'
  return new ToolRefusedError({
    code: 'tool-needs-yes',
    message: `${call} needs a yes. ${why}`,
    hint:
      unusual === undefined
        ? 'Say it at a terminal, or in advance with --yes.'
        : 'Say it at a terminal.',
  })
}
