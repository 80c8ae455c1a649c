import Formats

/// Carries out the calls of a message, one after another, and writes the answer.
///
/// Other requests are served meanwhile: between two calls, and within a long list, the task lets others run. A message ends
/// early when its task is cancelled: the client has closed its connection, or the time for the answer is over.
extension Aria2Service {
    /// - Parameter room: the memory for the answer.
    public func reply(to message: RPCMessage, in room: AnswerRoom, _ authorize: Authorization) async -> RPCReply {
        var text = AnswerText(room)
        switch message {
        case .unreadable: return RPCReply(.parseError)
        case .tooLarge: return RPCReply(.tooManyCalls)
        case .single(let call):
            let error = await write(call, onlyReads: message.onlyReads, to: &text, authorize)
            return RPCReply(text.bytes, error)
        case .batch(let calls):
            let onlyReads = message.onlyReads
            text.append("[")
            for (index, call) in calls.enumerated() {
                if index > 0 { text.append(",") }
                let error = await write(call, onlyReads: onlyReads, to: &text, authorize)
                if error == .outOfMemory, onlyReads { return RPCReply(.outOfMemory) }
            }
            text.append("]")
            return RPCReply(text.bytes)
        }
    }

    /// Writes the answer to one call.
    ///
    /// - Returns: the error that was written.
    private func write(
        _ value: JSON, onlyReads: Bool, to text: inout AnswerText, _ authorize: Authorization
    ) async -> RPCError? {
        let start = text.count
        let id = value.objectValue?["id"] ?? .null
        do {
            let call = try RPCCall(value)
            text.append(#"{"id":"#)
            text.write(id)
            text.append(#","jsonrpc":"2.0","result":"#)
            if call.method == RPCMethod.multicall.name {
                try await writeResults(ofMulticall: call.parameters, onlyReads: onlyReads, to: &text, authorize)
            } else {
                try await writeResult(of: call.method, call.parameters, to: &text, authorize)
            }
            text.append("}")
            return nil
        } catch {
            let error = error as? RPCError ?? RPCError("\(error)")
            text.cut(to: start)
            text.write(error.document(id: id))
            return error
        }
    }

    /// The result of each call is an array with the result, or an error.
    private func writeResults(
        ofMulticall parameters: [JSON], onlyReads: Bool, to text: inout AnswerText, _ authorize: Authorization
    ) async throws {
        var parameters = RPCParameters(parameters)
        let calls = try parameters.array()
        guard calls.count <= RPCMessage.mostCalls else {
            throw RPCError("system.multicall has more than \(RPCMessage.mostCalls) calls.")
        }
        text.append("[")
        for (index, call) in calls.enumerated() {
            if index > 0 { text.append(",") }
            let start = text.count
            do {
                text.append("[")
                try await writeResult(ofNested: call, to: &text, authorize)
                text.append("]")
            } catch {
                let error = error as? RPCError ?? RPCError("\(error)")
                // Nothing was changed, so the whole message can be sent again.
                if error == .outOfMemory, onlyReads { throw error }
                text.cut(to: start)
                text.write(error.document)
            }
        }
        text.append("]")
    }

    private func writeResult(ofNested value: JSON, to text: inout AnswerText, _ authorize: Authorization) async throws {
        guard let call = value.objectValue else { throw RPCError("system.multicall expected struct.") }
        guard let method = call["methodName"]?.stringValue else { throw RPCError("Missing methodName.") }
        guard method != RPCMethod.multicall.name else { throw RPCError("Recursive system.multicall forbidden.") }
        try await writeResult(of: method, call["params"]?.arrayValue ?? [], to: &text, authorize)
    }

    private func writeResult(
        of name: String, _ parameters: [JSON], to text: inout AnswerText, _ authorize: Authorization
    ) async throws {
        try await pause()
        guard let method = RPCMethod(name: name) else { throw RPCError("No such method: \(name)") }
        var parameters = RPCParameters(parameters)
        let secret = parameters.secret()
        guard let scope = method.scope else { return try text.write(read: perform(unrestricted: method)) }
        let caller = try authorize(secret)
        try caller.require(scope)
        try caller.require(session)
        guard scope != .read || !text.isFull else { throw RPCError.answerTooLarge }
        guard let result = try await perform(method, &parameters, caller, to: &text) else { return }
        // What has changed something is answered in any case, and briefly.
        if scope == .read { try text.write(read: result) } else { text.write(result) }
    }

    /// Lets other tasks run.
    ///
    /// - Throws: if the task is cancelled.
    func pause() async throws(RPCError) {
        await Task.yield()
        guard !Task.isCancelled else { throw RPCError("The answer was not ready in time.") }
    }
}

/// The memory for the answer to one message.
public struct AnswerRoom: Sendable {
    /// The largest answer in bytes. What an answer has beside the results of reading calls is small.
    public static let largestAnswer = 16 << 20

    /// Counts an answer of so many bytes; false if the service has no memory for it now.
    let resize: @Sendable (_ bytes: Int) -> Bool

    public init(_ resize: @escaping @Sendable (_ bytes: Int) -> Bool) { self.resize = resize }
}

/// The answer to a message while it is written, call by call. It is bounded, however much the calls ask for.
struct AnswerText {
    private(set) var bytes: [UInt8] = []
    private let room: AnswerRoom
    private let limit: Int
    /// Whether a result did not fit. Then no further one is read: most of them would be read in vain.
    private(set) var isFull = false

    init(_ room: AnswerRoom, limit: Int = AnswerRoom.largestAnswer) {
        self.room = room
        self.limit = limit
    }

    var count: Int { bytes.count }

    /// Removes what was written after a position.
    mutating func cut(to count: Int) { bytes.removeLast(bytes.count - count) }

    /// Writes what is part of every answer: punctuation, identifiers and errors.
    mutating func append(_ punctuation: StaticString) { punctuation.withUTF8Buffer { bytes.append(contentsOf: $0) } }

    mutating func write(_ value: JSON) { value.write(into: &bytes) }

    /// Writes what a call has read.
    ///
    /// - Throws: if it makes the answer too large, or if there is no memory for it. The caller then cuts the answer.
    mutating func write(read value: JSON) throws(RPCError) {
        value.write(into: &bytes)
        guard bytes.count <= limit else {
            isFull = true
            throw .answerTooLarge
        }
        guard room.resize(bytes.count) else { throw .outOfMemory }
    }
}
