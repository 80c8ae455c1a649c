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

    @Test func presentReadReplacesAll() {
        let version = configuration.version
        #expect(configuration.replaceStored(by: [.maxConcurrentJobs: 5], readAt: version, at: .distantPast))
        #expect(configuration.effective.maxConcurrentJobs == 5)
        #expect(configuration.replaceStored(by: [:], readAt: version, at: .distantPast))
        #expect(configuration.effective.maxConcurrentJobs == 16)
    }
}
