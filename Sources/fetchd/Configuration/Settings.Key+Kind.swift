import API
import Configuration
import Engine
import HTTPServer

extension Settings.Key {
    /// The type and range of a value, and a further check of it.
    enum Kind {
        case text((String) throws -> Void)
        case path
        case integer(ClosedRange<Int>)
        /// A number of bytes, or a text that `Quantity` reads.
        case bytes(ClosedRange<Int>)
        /// In the range `SettingName.durations`: a number, or a text that `Quantity` reads.
        case seconds
        case flag
        /// - Parameter separator: between the elements, in an environment variable.
        case texts(separator: Character, ([String]) throws -> Void)
    }

    var kind: Kind {
        switch self {
        case .listen: .text { if $0 != "none" { _ = try ListenAddress($0) } }
        case .unixSocketMode: .text { _ = try UnixSocket.mode($0) }
        case .unixSocket, .dataDir, .downloadsDir, .keyFile: .path
        case .maxConnections: .integer(16...20_000)
        case .maxConnectionsPerAddress: .integer(0...20_000)
        case .publicHost: .texts(separator: ",") { _ in }
        case .trustedProxy: .texts(separator: ",") { _ = try Settings.proxies($0) }
        case .allowOrigin: .texts(separator: ",") { _ = try AllowedOrigins(reading: $0) }
        case .webhookRetryDelays: .texts(separator: ",") { _ = try Settings.delays($0) }
        case .acknowledgementPatience, .minimumSpeedSeconds, .streamHeartbeat, .stopTimeout, .stopDelay: .seconds
        case .finishedRetentionFiles: .text { _ = try FinishedFiles(reading: $0) }
        case .fileMode: .text { _ = try FileModes.file($0) }
        case .directoryMode: .text { _ = try FileModes.folder($0) }
        case .enableRehearsals, .acceptLostSecrets, .allowCoreDumps, .requestLog, .traceOrigins, .aria2RPC: .flag
        case .logFormat: .text { _ = try ObservationSettings.format($0) }
        case .aria2Session: .text { _ = try SettingsSources.aria2Session($0) }
        case .keyCommand: .text(SettingsSources.checkKeyCommand)
        case .store: .text { _ = try SettingsSources.serverAddress($0) }
        case .nodeURL: .text { _ = try NodeAddress($0) }
        case .downloads: .text { _ = try SettingsSources.folderSharing($0) }
        case .token: .text(Settings.checkToken)
        case .rateLimit, .maxConcurrentJobs, .maxConnectionsPerHost, .schedule, .allowNetwork, .denyNetwork,
            .allowWebhookNetwork, .allowOriginHost, .denyOriginHost, .allowOriginPort, .minimumFreeBytes, .maxFileSize,
            .resumeDataMaxBytes, .maxParts, .eventRetention, .unacknowledgedRetention, .finishedRetention, .logLevel:
            runningKind
        }
    }

    /// The setting that can change while the service runs; nil: only a restart changes it.
    var running: SettingName? { SettingName(rawValue: rawValue) }

    private var runningKind: Kind {
        guard let name = running else { return .text { _ in } }
        return switch name.kind {
        case .integer(let range): .integer(Int(range.lowerBound)...Int(range.upperBound))
        case .bytes(let range): .bytes(Int(range.lowerBound)...Int(range.upperBound))
        case .seconds: .seconds
        case .text: .text { try RunningSettings.check(.string($0), of: name) }
        // A list of days has commas.
        case .texts:
            .texts(separator: name == .schedule ? ";" : ",") { try RunningSettings.check(.strings($0), of: name) }
        }
    }
}
