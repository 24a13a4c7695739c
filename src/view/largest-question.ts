/** In bytes of JSON. The longest question is a prompt that somebody has pasted. */
export const largestQuestion = 262_144
