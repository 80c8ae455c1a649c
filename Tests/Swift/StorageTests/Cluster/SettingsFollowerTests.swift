import Base
import Formats
import TestKit
import Testing

@testable import Storage

/// A node begins each commit with the settings that clients have set at other nodes.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct SettingsFollowerTests {
    private let nodes: [TestedNode]
    private let seen = Locked<[[String: JSON]]>([])

    init() async throws {
        let fixture = try PostgresFixture()
        nodes = [try await TestedNode(fixture), try await TestedNode(fixture)]
        nodes[1].store.observeSettings { [seen] settings in seen.withLock { $0.append(settings) } }
    }

    private func change(_ value: JSON?) async throws {
        _ = try await nodes[0].store.changeSettings([.init(name: "limit", value: value, start: 16)], audit: nil) { _ in
        }
    }

    /// What the second node knows when it performs a write.
    private func settingsOfAWrite() async throws -> [String: JSON]? {
        try await nodes[1].store.writer.write { [seen] _ in seen.withLock(\.last) }
    }

    @Test func writeKnowsTheSettingsOfOtherNodes() async throws {
        #expect(try await settingsOfAWrite() == [:])
        for value in [4, 5, nil, 4] as [JSON?] {
            try await change(value)
            #expect(try await settingsOfAWrite()?["limit"] == value)
        }
    }

    /// The node may keep the value of its own change, or of its read, although the stored value is the former one again.
    @Test(arguments: [true, false]) func valueThatReturnsIsReadAgain(isOwnChange: Bool) async throws {
        try await change(4)
        _ = try await settingsOfAWrite()
        if isOwnChange {
            _ = try await nodes[1].store.changeSettings([.init(name: "limit", value: 5, start: 16)], audit: nil) { _ in
            }
        } else {
            try await change(5)
            #expect(try await nodes[1].store.settings() == ["limit": 5])
        }
        seen.withLock { $0 = [] }
        try await change(4)
        #expect(try await settingsOfAWrite() == ["limit": 4])
    }

    @Test func settingsAreReadOncePerChange() async throws {
        try await change(4)
        for _ in 0..<3 { _ = try await settingsOfAWrite() }
        #expect(seen.withLock(\.count) == 1)
    }

    @Test func textThatIsNoJSONFailsNoWrite() async throws {
        try await change(4)
        try await nodes[0].store.writer.write { try $0.run("UPDATE service_settings SET value = '{'") }
        #expect(try await settingsOfAWrite() == ["limit": .null])
        #expect(try await nodes[1].store.settings() == ["limit": .null])
    }
}
