import Downloads
import Formats

/// A client of the `GET /v1/events` stream: reads it on its own thread, as a browser's EventSource does, and keeps the
/// messages.
public final class EventListener: Sendable {
    public struct Message: Sendable, Equatable {
        /// The identifier in the block itself; nil for progress.
        public var id: Int64?
        public var type: String
        public var data: JSON
        /// The time at which the message was read.
        public var moment: ContinuousClock.Instant
    }

    public struct State: Sendable {
        public var status: Int?
        public var headers: [(name: String, value: String)] = []
        public var messages: [Message] = []
        /// Comments.
        public var heartbeats = 0
        /// The numbers of the `position` events, which are no messages.
        public var positions: [Int64] = []
        /// Empty lines after no data. Some clients report them as messages.
        public var emptyBlocks = 0
        /// The reconnection time in milliseconds.
        public var retry: Int?
        /// The identifier for a reconnection; `position` sets it too.
        public var lastID: Int64?
        /// The end of the stream; orderly if its last chunk has arrived.
        public var end: End?
    }

    public enum End: Sendable { case orderly, broken }

    public let state = Monitor(State())
    private let socket: LoopbackSocket

    /// - Parameters:
    ///   - query: the query, after `/v1/events?`.
    ///   - origin: the origin of the listening page.
    ///   - gate: nothing is read before it opens.
    public init(
        to port: UInt16, _ query: String = "", lastEventID: Int64? = nil, token: String? = nil,
        origin: String? = nil, gate: Gate? = nil
    ) throws {
        socket = try LoopbackSocket.connected(to: port)
        let target = "/v1/events" + (query.isEmpty ? "" : "?\(query)")
        var headers = [("Host", "127.0.0.1"), ("Accept", "text/event-stream")]
        if let lastEventID { headers.append(("Last-Event-ID", "\(lastEventID)")) }
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        if let origin { headers.append(("Origin", origin)) }
        let head = "GET \(target) HTTP/1.1\r\n" + headers.map { "\($0): \($1)\r\n" }.joined() + "\r\n"
        guard socket.send(ArraySlice(Array(head.utf8))) else { throw Overdue("The listener could not ask.") }
        detachThread { [socket, state, headers] in
            if let gate { socket.wait(for: gate.readingEnd) }
            let reader = EventStreamReader(socket, state)
            reader.run()
            ExchangeRecord.shared?.add(
                "GET", target, headers, nil,
                APIAnswer(status: state.current.status ?? 0, headers: state.current.headers, body: reader.text))
        }
    }

    deinit { socket.shutDown() }

    /// Closes the connection.
    public func close() { socket.shutDown() }

    public var messages: [Message] { state.current.messages }

    /// The identifiers of journal events, in the order of arrival.
    public var ids: [Int64] { messages.compactMap(\.id) }

    @discardableResult
    public func wait(
        for what: String, atMost timeout: Duration = .patience, until isReached: @escaping @Sendable (State) -> Bool
    ) async throws -> State {
        guard await state.wait(atMost: timeout, until: isReached) else {
            let state = state.current
            throw Overdue(
                "The listener waited in vain for \(what): \(String(describing: state.status)), "
                    + "\(state.messages.count) messages, \(String(describing: state.end))")
        }
        return state.current
    }
}

/// Reads the layers of a stream: head, chunks, lines, blocks.
private final class EventStreamReader {
    private let socket: LoopbackSocket
    private let state: Monitor<EventListener.State>
    private var received: ArraySlice<UInt8> = []
    private var line: [UInt8] = []
    private var block = Block()
    /// The beginning of the stream, for the exchange record.
    private(set) var text: [UInt8] = []

    private struct Block {
        var id: Int64?
        var type = "message"
        var data: String?
    }

    init(_ socket: LoopbackSocket, _ state: Monitor<EventListener.State>) {
        self.socket = socket
        self.state = state
    }

    func run() {
        let isOrderly = readHead() && readChunks()
        state.withLock { $0.end = isOrderly ? .orderly : .broken }
    }

    private func readHead() -> Bool {
        var lines: [String] = []
        while let line = readLine() {
            if !line.isEmpty {
                lines.append(line)
                continue
            }
            let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            let headers = lines.dropFirst().map { line in
                let halves = line.split(separator: ":", maxSplits: 1).map(String.init)
                return (name: halves[0], value: String(halves.last?.drop { $0 == " " } ?? ""))
            }
            state.withLock { ($0.status, $0.headers) = (status, headers) }
            return status == 200
        }
        return false
    }

    private func readChunks() -> Bool {
        while let size = readLine().flatMap({ Int($0, radix: 16) }) {
            guard size > 0 else { return true }
            var left = size
            while left > 0 {
                guard fill() else { return false }
                let piece = received.prefix(left)
                received = received.dropFirst(piece.count)
                left -= piece.count
                take(piece)
            }
            guard readLine() != nil else { return false }
        }
        return false
    }

    private func take(_ piece: ArraySlice<UInt8>) {
        if text.count < 1 << 16 { text += piece }
        for byte in piece {
            guard byte == 0x0A else {
                line.append(byte)
                continue
            }
            take(line: String(decoding: line, as: UTF8.self))
            line = []
        }
    }

    private func take(line: String) {
        let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let value = String(halves.count > 1 ? halves[1].drop { $0 == " " } : "")
        switch halves[0] {
        case "" where line.isEmpty: dispatch()
        case "": state.withLock { $0.heartbeats += 1 }
        case "id": block.id = Int64(value)
        case "event": block.type = value
        case "data": block.data = value
        case "retry": state.withLock { $0.retry = Int(value) }
        default: break
        }
    }

    private func dispatch() {
        let block = block
        self.block = Block()
        state.withLock { state in
            if let id = block.id { state.lastID = id }
            guard let data = block.data else {
                state.emptyBlocks += 1
                return
            }
            let json = (try? JSON(parsing: Array(data.utf8))) ?? .null
            if block.type == "position" {
                if let after = json["after"].integer, after == block.id { state.positions.append(after) }
                return
            }
            state.messages.append(.init(id: block.id, type: block.type, data: json, moment: .now))
        }
    }

    private func readLine() -> String? {
        var line: [UInt8] = []
        while fill() {
            let part = received.prefix { $0 != 0x0A }
            line += part
            received = received.dropFirst(part.count)
            if received.first == 0x0A {
                received = received.dropFirst()
                return String(decoding: line.last == 0x0D ? line.dropLast() : line[...], as: UTF8.self)
            }
        }
        return nil
    }

    private func fill() -> Bool {
        if received.isEmpty { received = socket.receive()[...] }
        return !received.isEmpty
    }
}
