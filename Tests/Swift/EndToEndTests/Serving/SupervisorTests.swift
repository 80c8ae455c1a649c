import Foundation
import TestKit
import Testing

@testable import fetchd

/// The service reports its state to the service manager that started it, as systemd does with `Type=notify`.
@Suite struct SupervisorTests {
    private static let signOfLife = "WATCHDOG=1"

    private func environment(_ receiver: NotifyReceiver, watchdogMilliseconds: Int) -> [String: String] {
        ["NOTIFY_SOCKET": receiver.name, "WATCHDOG_USEC": "\(watchdogMilliseconds * 1000)"]
    }

    @Test(arguments: [true, false])
    func reportsReadinessSignsOfLifeAndStop(_ isAbstract: Bool) async throws {
        let folder = try TemporaryFolder()
        let receiver = try NotifyReceiver(isAbstract ? "@fetchd-\(UUID().uuidString)" : folder.path("notify"))
        let environment = environment(receiver, watchdogMilliseconds: 100)
        let fetchd = try await FetchdProcess.start(.init(environment: environment))
        var messages: [String] = []
        _ = try await eventually("three signs of life after the readiness") {
            messages += receiver.take()
            let later = messages.drop { !$0.hasPrefix("READY=1\n") }
            return later.count { $0 == Self.signOfLife } >= 3 ? true : nil
        }
        #expect(messages.filter { $0 != Self.signOfLife } == ["READY=1\nSTATUS=Ready at \(fetchd.baseURL)"])
        // The kernel keeps few messages, so they are taken meanwhile.
        async let stop: Void = fetchd.stop()
        _ = try await eventually("the beginning of the stop") {
            receiver.take().contains("STOPPING=1\nSTATUS=Stopping") ? true : nil
        }
        try await stop
    }

    /// The writer is blocked in a sync of the disk. The signs of life end, and continue after it.
    @Test(.onSQLite) func givesNoSignOfLifeWhileWriterIsBlocked() async throws {
        let (faults, folder) = (try await DiskFaults(), try TemporaryFolder())
        let receiver = try NotifyReceiver(folder.path("notify"))
        let environment = faults.environment.merging(environment(receiver, watchdogMilliseconds: 20)) { $1 }
        let fetchd = try await FetchdProcess.start(.init(environment: environment))
        try faults.set("fdatasync fetchd.sqlite-wal 1 1 HOLD")
        async let submission = fetchd.api.submit(["url": "http://127.0.0.1:1/"])
        _ = try await eventually("the sync to wait") { faults.log.isEmpty ? nil : true }
        // Between two calls of `take`, a service that is not blocked gives 50 signs of life.
        _ = try await eventually("the end of the signs of life", pause: .seconds(1)) {
            receiver.take().isEmpty ? true : nil
        }
        try faults.heal()
        _ = try await submission
        _ = try await eventually("another sign of life") { receiver.take().contains(Self.signOfLife) ? true : nil }
    }

    @Test func ignoresWatchdogOfAnotherProcess() async throws {
        let folder = try TemporaryFolder()
        let receiver = try NotifyReceiver(folder.path("notify"))
        let environment = environment(receiver, watchdogMilliseconds: 2).merging(["WATCHDOG_PID": "1"]) { $1 }
        let fetchd = try await FetchdProcess.start(.init(environment: environment))
        try await fetchd.stop()
        #expect(!receiver.take().contains(Self.signOfLife))
    }

    @Test func startsWithAWarningWhenTheSocketCannotBeUsed() async throws {
        let fetchd = try await FetchdProcess.start(.init(environment: ["NOTIFY_SOCKET": "vsock:2:1234"]))
        #expect(fetchd.log.contains("NOTIFY_SOCKET is 'vsock:2:1234'"))
    }

    @Test(arguments: [
        ("/run/systemd/notify", true), ("@notify", true), ("@", true), ("", false), ("notify", false),
        ("vsock:2:1234", false), ("/" + String(repeating: "n", count: 106), true),
        ("/" + String(repeating: "n", count: 107), false),
    ])
    func acceptsPathsAndAbstractNames(_ name: String, _ isAccepted: Bool) {
        #expect((NotifySocket(name) != nil) == isAccepted)
    }

    @Test func saysThatAMessageHasNoReceiver() throws {
        #expect(NotifySocket(try TemporaryFolder().path("none"))?.send("READY=1") == false)
    }
}
