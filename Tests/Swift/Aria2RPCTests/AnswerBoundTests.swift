import CurlClient
import Downloads
import Engine
import Formats
import TestKit
import Testing

@testable import Aria2RPC
@testable import Storage
@testable import StorageSQLite

/// An answer is bounded, however much a message asks for.
@Suite struct AnswerBoundTests {
    private let temporary: TemporaryFolder
    private let store: Store
    private let service: Aria2Service

    init() async throws {
        temporary = try TemporaryFolder()
        store = try Store(at: temporary.path("data"))
        let log = LogRecord().logger
        let engine = Engine(
            options: Engine.Options(), store: store,
            locations: Locations(main: try DownloadsFolder(at: temporary.path("downloads"), for: .alone)),
            client: try CurlClient(),
            log: log)
        let limits = ServiceLimits(
            current: { (maxConcurrentJobs: 16, rateLimit: nil) }, change: { _, _ in })
        service = Aria2Service(
            options: Aria2Service.Options(), store: store, engine: engine, limits: limits, log: log)
        _ = try await store.declareSession(service.session, configuration: nil)
    }

    private static let caller = RPCCaller(
        grant: Permissions(.admin)!, creator: .unlimited,
        note: AuditNote(caller: nil, name: nil, address: "local", action: "POST /jsonrpc"))

    private func create(_ count: Int, urlBytes: Int = 0) async throws -> [Job] {
        let path = String(repeating: "a", count: urlBytes)
        return try await store.createJobs(
            (0..<count).map {
                NewJob(session: service.session, spec: JobSpec(url: "https://host/\($0)\(path)"), isPaused: true)
            })
    }

    private func reply(_ call: JSON, room: Int = .max) async -> RPCReply {
        await service.reply(to: RPCMessage(call.bytes), in: AnswerRoom { $0 <= room }) { _ in Self.caller }
    }

    private func multicall(_ calls: [(method: String, parameters: JSON)]) -> JSON {
        let calls = calls.map { call in JSON.object(["methodName": .string(call.method), "params": call.parameters]) }
        return ["id": 1, "method": "system.multicall", "params": [.array(calls)]]
    }

    @Test func aCallThatDoesNotFitGetsAnErrorInItsPlace() async throws {
        _ = try await create(250, urlBytes: 8_000)
        let calls = [(method: String, parameters: JSON)](repeating: ("aria2.tellWaiting", [0, 1000]), count: 12)
        let reply = await reply(multicall(calls + [("aria2.pauseAll", []), ("aria2.getVersion", [])]))
        #expect(reply.status == 200 && reply.text.count <= AnswerRoom.largestAnswer + 10_000)
        let results = try #require(try JSON(parsing: reply.text)["result"].arrayValue)
        #expect(results.count == 14)
        let lists = results.prefix(12).filter { $0.arrayValue?.first?.arrayValue?.count == 250 }
        #expect((6..<9).contains(lists.count))
        #expect(results[11]["message"].string?.contains("16 MiB") == true)
        // What changes something is carried out and answered. What reads is not read in vain.
        #expect(results[12] == ["OK"] && results[13]["code"] == 1)
        let single = await self.reply(["id": 1, "method": "aria2.tellWaiting", "params": [0, 1000]])
        #expect(single.status == 200)
    }

    @Test func aReaderIsAskedToComeAgainWhenThereIsNoMemory() async throws {
        _ = try await create(20, urlBytes: 1_000)
        let list: (method: String, parameters: JSON) = ("aria2.tellWaiting", [0, 1000])
        for message in [
            ["id": 1, "method": "aria2.tellWaiting", "params": [0, 1000]] as JSON,
            [["id": 1, "method": "aria2.tellWaiting", "params": [0, 1000]]], multicall([list]),
        ] {
            let reply = await reply(message, room: 5_000)
            #expect(reply.status == 503)
            #expect(try JSON(parsing: reply.text)["error"]["code"] == 1)
        }
        // A message that has changed something cannot be sent again.
        let mixed = await reply(multicall([("aria2.pauseAll", []), list]), room: 5_000)
        let results = try JSON(parsing: mixed.text)["result"].arrayValue ?? []
        #expect(mixed.status == 200 && results.first == ["OK"] && results.last?["code"] == 1)
    }

    @Test func aMessageWithTooManyCallsIsRefused() async throws {
        let calls = [(method: String, parameters: JSON)](repeating: ("aria2.getVersion", []), count: 1_001)
        #expect(await reply(multicall(calls)).status == 400)
        let batch = [JSON](repeating: ["id": 1, "method": "aria2.getVersion"], count: 1_001)
        #expect(await reply(.array(batch)).status == 400)
        #expect(await reply(.array(batch.dropLast())).status == 200)
    }

    /// Lists are read in slices.
    @Test func aListIsCompleteAndInItsOrder() async throws {
        let gids = try await create(130).map { JSON.object(["gid": .string($0.aria2GID.description)]) }
        func list(_ offset: Int, _ count: Int) async throws -> [JSON]? {
            let reply = await reply(
                ["id": 1, "method": "aria2.tellWaiting", "params": [.count(offset), .count(count), ["gid"]]])
            return try JSON(parsing: reply.text)["result"].arrayValue
        }
        #expect(try await list(0, 1000) == gids)
        #expect(try await list(0, 0) == [])
        #expect(try await list(100, 7) == Array(gids[100..<107]))
        #expect(try await list(129, 5) == [gids[129]])
        #expect(try await list(130, 5) == [])
        #expect(try await list(-1, 3) == Array(gids[127..<130].reversed()))
        #expect(try await list(-129, 5) == Array(gids[0..<2].reversed()))
        #expect(try await list(-131, 5) == [])
        #expect(try await list(.max, .max) == [])
        #expect(try await list(.min, .max) == [])
    }

    @Test func aMessageThatNobodyWaitsForEnds() async throws {
        let message = RPCMessage(multicall([("aria2.pauseAll", []), ("aria2.pauseAll", [])]).bytes)
        let task = Task { [service] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await service.reply(to: message, in: AnswerRoom { _ in true }) { _ in Self.caller }
        }
        let results = try JSON(parsing: await task.value.text)["result"].arrayValue ?? []
        #expect(results.count == 2 && results.allSatisfy { $0["code"] == 1 })
    }
}
