// Reads sets for tool retrieval: `NAME.tools.jsonl` beside one or more `NAME.ANYTHING.jsonl` with
// `{ id, query, gold, goldGroups? }` a line.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Every set of the folder, in the order of their names; `only` keeps those whose name it matches. */
export function readSets(folder, only = /./) {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .toSorted()
  return files
    .filter((file) => file.endsWith('.tools.jsonl'))
    .flatMap((file) => {
      const name = file.slice(0, -'.tools.jsonl'.length)
      const tools = readLines(path.join(folder, file))
      return files
        .filter((other) => other.startsWith(`${name}.`) && other !== file)
        .map((other) => ({
          name: other.slice(0, -'.jsonl'.length),
          tools,
          queries: readLines(path.join(folder, other)).filter(({ gold }) => gold?.length > 0),
        }))
    })
    .filter((set) => only.test(set.name) && set.queries.length > 0)
}

/** The tools as servers would list them. */
export function definitionsOf(tools) {
  return tools.map((tool) => ({
    id: tool.toolId,
    server: tool.server ?? '',
    name: tool.name,
    description: tool.description ?? '',
    inputSchema: tool.schema ?? {
      type: 'object',
      properties: Object.fromEntries((tool.params ?? []).map((name) => [name, {}])),
    },
  }))
}

function readLines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
}
