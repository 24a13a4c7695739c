// The page: messages, the calls of tools, and a button for each approval that waits. It is bundled
// with react, react-dom and @ai-sdk/react: npx rolldown page.mjs --platform browser --file page.js
import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
} from 'ai'
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'

function Chat() {
  const { messages, sendMessage, addToolApprovalResponse } = useChat({
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const send = (event) => {
    event.preventDefault()
    const field = event.target.elements.text
    void sendMessage({ text: field.value })
    field.value = ''
  }
  return h(
    'div',
    null,
    messages.map(({ id, role, parts }) =>
      h(
        'div',
        { key: id, className: role },
        parts.map((part, index) => h(Part, { key: index, part, answer: addToolApprovalResponse })),
      ),
    ),
    h('form', { onSubmit: send }, h('input', { name: 'text', autoFocus: true })),
  )
}

function Part({ part, answer }) {
  if (part.type === 'text') return h('p', null, part.text)
  if (!isToolUIPart(part)) return null
  const { type, state, input, approval } = part
  const name = `${type.slice('tool-'.length)} ${JSON.stringify(input)}`
  if (state !== 'approval-requested') return h('p', null, `${name}: ${state}`)
  const choose = (approved) => () => answer({ id: approval.id, approved })
  return h(
    'p',
    null,
    `May it call ${name}? `,
    h('button', { onClick: choose(true) }, 'Allow'),
    h('button', { onClick: choose(false) }, 'Refuse'),
  )
}

createRoot(document.querySelector('#chat')).render(h(Chat))
