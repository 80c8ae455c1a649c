import Foundation
import Storage
import Testing

@testable import Configuration

@Suite struct ServiceConfigurationTests {
    private let configuration = ServiceConfiguration(StartSettings())

    /// A client changes a setting here while the change of another node is being read.
    @Test func outdatedReadReplacesNothing() {
        let version = configuration.version
        let change = SettingChange(
            name: SettingName.maxConcurrentJobs.rawValue, before: 16, after: 3, stored: 3)
        configuration.take([change], at: .distantPast)
        #expect(!configuration.replaceStored(by: [:], readAt: version, at: .distantPast))
        #expect(configuration.effective.maxConcurrentJobs == 3)
        #expect(configuration.source(of: .maxConcurrentJobs) == .api)
    }

    /// The writer reads the change of another node while this node reads an older state.
    @Test func readOfTheWriterIsNewer() {
        let version = configuration.version
        configuration.follow([SettingName.maxConcurrentJobs.rawValue: 3], at: .distantPast)
        #expect(!configuration.replaceStored(by: [:], readAt: version, at: .distantPast))
        #expect(configuration.effective.maxConcurrentJobs == 3)
        #expect(configuration.source(of: .maxConcurrentJobs) == .api)
    }

    /// Another node has changed the setting and changed it back, while this node reads the state between.
    @Test func readOfTheWriterIsNewerAlsoIfNothingChanges() {
        let version = configuration.version
        configuration.follow([:], at: .distantPast)
        #expect(!configuration.replaceStored(by: [.maxConcurrentJobs: 3], readAt: version, at: .distantPast))
        #expect(configuration.effective.maxConcurrentJobs == 16)
    }

    /// Otherwise a node that commits all the time would read the settings again and again.
    @Test func readOfWhatIsKnownIsNeverOutdated() {
        let version = configuration.version
        configuration.follow([SettingName.maxConcurrentJobs.rawValue: 3], at: .distantPast)
        #expect(configuration.replaceStored(by: [.maxConcurrentJobs: 3], readAt: version, at: .distantPast))
    }

    @Test func unusableValuesAreLeftOut() {
        configuration.follow(["max_concurrent_jobs": .null, "of_a_later_version": 1, "log_level": 7], at: .distantPast)
        #expect(configuration.effective.maxConcurrentJobs == 16)
        #expect(Setting.running.allSatisfy { configuration.source(of: $0.name) == .default })
    }

    @Test func presentReadReplacesAll() {
        let version = configuration.version
        #expect(configuration.replaceStored(by: [.maxConcurrentJobs: 5], readAt: version, at: .distantPast))
        #expect(configuration.effective.maxConcurrentJobs == 5)
        #expect(configuration.replaceStored(by: [:], readAt: version, at: .distantPast))
        #expect(configuration.effective.maxConcurrentJobs == 16)
    }
}
