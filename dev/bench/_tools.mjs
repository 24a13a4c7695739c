// A registry of any size: tools of ten servers, as these would list them.
export const serverNames = Array.from({ length: 10 }, (_, at) => `server-${at}`)
const things = ['page', 'issue', 'table', 'file', 'message', 'chart', 'invoice', 'song', 'map']

export function benchTools(count) {
  return Array.from({ length: count }, (_, at) => definition(at))
}

function definition(at) {
  const server = serverNames[at % serverNames.length]
  const thing = things[at % things.length]
  const name = `get_${thing}_${at}`
  const properties = Object.fromEntries(
    ['id', 'query', 'limit', 'options'].map((key) => [
      key,
      {
        type: 'string',
        description: `The ${key} of the ${thing}, as it was given when it was made.`,
      },
    ]),
  )
  return {
    id: `${server}__${name}`,
    server,
    name,
    description: `Gets a ${thing} with everything that belongs to it. `.repeat(4),
    inputSchema: { type: 'object', properties, required: ['id'], additionalProperties: false },
    annotations: { readOnlyHint: true },
  }
}
