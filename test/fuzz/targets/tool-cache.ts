import { type CachedTool, cacheText, parseCache } from '../../../src/tools/cache/cache-file.ts'
import { demand, same, textOf } from '../target.ts'

export const name = 'tool-cache'
const tools = '[{"id":"a__b","description":"d","prefix":"a","examples":["x"]},"c__d"]'
export const seeds: readonly string[] = [
  `{"version":"4.0.0","refreshed_at":"2026-01-01","mcp_servers":["a"],"tool_count":2,"categories":{"x":{"description":"d","keywords":["k"],"tools":${tools}}},"uncategorized":[{"id":"e__f"}],"workflows":{}}`,
  '{"version":"5.0","generated_at":1,"tool_sources":["a"],"tool_count":1,"categories":{"x":{"tools":["a__b"]}},"tools":{"a__b":{"description":"d","category":"x"},"g__h":{}}}',
  '{"version":"3","tool_count":0,"categories":{"__proto__":{"tools":["constructor"]}},"tools":{"__proto__":{}}}',
  '{"version":"99.0.0"}',
  '\ufeff{"version":"4","tool_count":0,"categories":[]}',
]
export const words: readonly string[] = [
  '"categories":{',
  '"tools":[',
  '"uncategorized":[',
  '"workflows":',
  '"id":"a__b"',
  '"version":"4.0.0"',
  '"tool_count":0',
  '__proto__',
  '{"a":{',
]

const path = '/p/.tool-cache.json'

/** Nothing throws; every ID occurs once; a written cache is read without a difference. */
export function fuzz(data: Uint8Array): void {
  const reading = parseCache(textOf(data), path)
  if (reading.state !== 'read') {
    demand(reading.diagnostics.length > 0, 'no cache and no word')
    return
  }
  const { cache } = reading
  const all = [...cache.categories.flatMap(({ tools: list }) => list), ...cache.uncategorized]
  for (const tool of all) checkTool(tool)
  demand(new Set(all.map(({ id }) => id)).size === all.length, 'an id twice')
  demand(cache.refreshedAt === '' || !Number.isNaN(Date.parse(cache.refreshedAt)), 'a date')
  const again = parseCache(cacheText(cache), path)
  demand(again.state === 'read', 'not read again', cache, again)
  demand(same(again.cache, cache), 'not the same again', cache, again.cache)
}

function checkTool({ id, description, examples = [] }: CachedTool): void {
  demand(id !== '' && id === id.trim() && !/[\n\t]/.test(id), 'an id', id)
  demand(description.length <= 1000, 'a description without end', description.length)
  demand(examples.length <= 100, 'examples without end', examples.length)
}
