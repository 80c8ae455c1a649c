import Foundation
import Testing

@testable import Configuration

/// How many jobs may run at once, by the start, a client and the schedule.
@Suite struct EffectiveSettingsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        /// The value of the start and its source.
        var start = 16
        var source: SettingSource?
        /// What a client has set.
        var client: Int?
        /// The number of a rule that applies now, and whether a client has set the schedule.
        var scheduled: Int?
        var isScheduleOfClient = false
        var isNode = true
        var most = 1000
        /// On this service, and on all nodes together.
        var expected: (own: Int, all: Int?)

        var testDescription: String {
            "start \(start) (\(source?.rawValue ?? "default")), client \(client ?? -1), schedule \(scheduled ?? -1), node \(isNode)"
        }
    }

    private static let alone: [Row] = [
        Row(isNode: false, expected: (16, nil)),
        Row(source: .flag, client: 100, isNode: false, expected: (100, nil)),
        Row(client: 100, scheduled: 200, isScheduleOfClient: true, isNode: false, expected: (200, nil)),
        Row(client: 2000, isNode: false, expected: (1000, nil)),
    ]
    private static let nodes: [Row] = [
        Row(expected: (16, nil)),
        Row(source: .flag, expected: (16, nil)),
        // The number of a client is that of all nodes. A limit that the start of a node gives holds besides.
        Row(client: 100, expected: (100, 100)),
        Row(client: 4, expected: (4, 4)),
        Row(client: 2000, expected: (1000, 2000)),
        Row(source: .flag, client: 100, expected: (16, 100)),
        Row(source: .environment, client: 100, expected: (16, 100)),
        Row(source: .file, client: 4, expected: (4, 4)),
        // A schedule that the start gives is that of the node.
        Row(source: .flag, scheduled: 100, expected: (100, nil)),
        Row(source: .flag, client: 50, scheduled: 2, expected: (2, nil)),
        Row(scheduled: 100, isScheduleOfClient: true, expected: (100, 100)),
        Row(source: .flag, scheduled: 100, isScheduleOfClient: true, expected: (16, 100)),
        Row(source: .flag, scheduled: 0, isScheduleOfClient: true, expected: (0, 0)),
    ]

    @Test(arguments: alone + nodes) func limitsJobs(_ row: Row) throws {
        var start = StartSettings(mostConcurrentJobs: row.most, isNode: row.isNode)
        start.values.maxConcurrentJobs = row.start
        start.sources[.maxConcurrentJobs] = row.source
        var (settings, stored) = (start.values, Set<SettingName>())
        if let client = row.client {
            settings.maxConcurrentJobs = client
            stored.insert(.maxConcurrentJobs)
        }
        if let jobs = row.scheduled {
            settings.schedule = Schedule([try ScheduleRule("daily 00:00-24:00 UTC max_concurrent_jobs=\(jobs)")])
            if row.isScheduleOfClient { stored.insert(.schedule) }
        }
        let effective = EffectiveSettings(
            settings, since: start, stored: stored, at: Date(timeIntervalSince1970: 1_800_000_000))
        #expect(effective.maxConcurrentJobs == row.expected.own)
        #expect(effective.maxConcurrentJobsOfAllNodes == row.expected.all)
    }
}
