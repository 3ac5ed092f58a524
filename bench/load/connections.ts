import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'

/** Kept-alive connections to a server on loopback, each with one request under way at a time. */
export class Connections {
  #all: Connection[] = []
  #free: Connection[] = []

  static async open(port: number, count: number): Promise<Connections> {
    const connections = new Connections()
    for (let i = 0; i < count; i++) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      await once(socket, 'connect')
      const connection = new Connection(socket)
      connections.#all.push(connection)
      connections.#free.push(connection)
    }
    return connections
  }

  get hasFree(): boolean {
    return this.#free.length > 0
  }

  /** Sends a request on a free connection. */
  send(request: Buffer, answered: (status: number) => void): void {
    const connection = this.#free.pop()
    if (!connection) throw new Error('no connection is free')
    connection.send(request, (status) => {
      this.#free.push(connection)
      answered(status)
    })
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }
}

/** Status 0 stands for a connection that broke. */
class Connection {
  #socket: Socket
  #answered: ((status: number) => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    const reader = new AnswerReader((status) => this.#settle(status))
    socket.on('data', (chunk: Buffer) => reader.read(chunk))
    socket.on('error', () => {})
    socket.on('close', () => this.#settle(0))
  }

  send(request: Buffer, answered: (status: number) => void): void {
    this.#answered = answered
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.destroy()
  }

  #settle(status: number): void {
    const answered = this.#answered
    this.#answered = undefined
    answered?.(status)
  }
}
