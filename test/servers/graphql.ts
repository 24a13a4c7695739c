import { createRequire } from 'node:module'
import { join } from 'node:path'
import { listenOnLoopback, type LoopbackServer } from './loopback.ts'
import { serverCacheDirectory } from './packages.ts'

const typeDefinitions = `
  type User { id: ID!, name: String!, email: String }
  type Query { user(id: ID!): User, users: [User!]! }
  type Mutation { login(name: String!): User, authorize(id: ID!): Boolean }
`

const users = [
  { id: '1', name: 'Ann', email: 'ann@example.com' },
  { id: '2', name: 'Bob', email: 'bob@example.com' },
]

const roots = {
  users: () => users,
  user: ({ id }: { id: string }) => users.find((user) => user.id === id),
  login: ({ name }: { name: string }) => users.find((user) => user.name === name),
  authorize: () => true,
}

/** The part of the library `graphql` that is used; mcp-graphql brings it along. */
interface GraphqlLibrary {
  buildSchema(text: string): object
  graphql(request: object): Promise<object>
}

export interface GraphqlServer extends LoopbackServer {
  /** The queries, with `introspection` for an introspection. */
  queries: string[]
}

/** A GraphQL server on loopback. */
export async function startGraphql(): Promise<GraphqlServer> {
  const require = createRequire(import.meta.url)
  const path = join(serverCacheDirectory(), 'node_modules', 'graphql')
  const library: GraphqlLibrary = require(path)
  const schema = library.buildSchema(typeDefinitions)
  const queries: string[] = []
  const server = await listenOnLoopback((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const { query, variables } = JSON.parse(body)
      queries.push(query.includes('__schema') ? 'introspection' : query)
      const execution = { schema, source: query, variableValues: variables, rootValue: roots }
      void library.graphql(execution).then((answer) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answer))
      })
    })
  })
  return { ...server, url: `${server.url}/graphql`, queries }
}
