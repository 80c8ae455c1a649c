import CurlClient

/// The settings that say where downloads and webhooks may connect to.
struct NetworkSettings: Sendable {
    var allowed: [Network]
    var denied: [Network]
    var allowedForWebhooks: [Network]
    var hosts: HostPolicy

    /// - Throws: `SettingsError` if a value is invalid.
    init(_ sources: SettingsSources) throws {
        func networks(_ key: Settings.Key) throws -> [Network] {
            try sources.strings(key).map { try Network(reading: $0, of: key) }
        }
        func hosts(_ key: Settings.Key) throws -> [HostPattern] {
            try sources.strings(key).map { try HostPattern(reading: $0, of: key) }
        }
        allowed = try networks(.allowNetwork)
        denied = try networks(.denyNetwork)
        allowedForWebhooks = try networks(.allowWebhookNetwork)
        self.hosts = HostPolicy(
            allowing: try hosts(.allowOriginHost), denying: try hosts(.denyOriginHost),
            ports: try sources.strings(.allowOriginPort).map(Self.ports))
    }

    /// - Parameter text: `443` or `8000-8999`.
    private static func ports(_ text: String) throws -> ClosedRange<Int> {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0).map(Int.init) }
        guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], 1 <= first, first <= last else {
            throw SettingsError(
                "allow_origin_port contains '\(text)'; it takes ports from 1 to 65535, such as 443 or 8000-8999.")
        }
        return first...last
    }
}
