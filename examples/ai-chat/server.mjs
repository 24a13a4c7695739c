import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { pipeAgentUIStreamToResponse, ToolLoopAgent } from 'ai'
import { createSkills } from 'skillrail/ai'

const directory = fileURLToPath(new URL('skills', import.meta.url))

/** An agent with the skills of this folder. Any model of the AI SDK will do. */
export async function chatAgent(model) {
  const skills = await createSkills({ skillDirs: [directory], trustedPaths: [directory] })
  return new ToolLoopAgent({
    model,
    ...skills.settings({ instructions: 'You help with releases.' }),
  })
}

/** Serves the page and the chat on this machine. The page keeps the conversation, the server nothing. */
export async function startChat(agent, { script = '', port = 0 } = {}) {
  const page =
    '<!doctype html><meta charset="utf-8"><title>Chat</title><main id="chat"></main><script type="module" src="/page.js"></script>'
  const server = createServer(async (request, response) => {
    if (request.method === 'POST' && request.url === '/api/chat') {
      const { messages } = JSON.parse(await textOf(request))
      await pipeAgentUIStreamToResponse({ response, agent, uiMessages: messages })
      return
    }
    const isScript = request.url === '/page.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? script : page)
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${server.address().port}` }
}

async function textOf(request) {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
