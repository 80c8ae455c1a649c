import CurlClient
import Formats
import Logging

/// The values as documents, the configuration file and the database have them. A setting without a value is null.
extension RunningSettings {
    public subscript(name: SettingName) -> JSON {
        switch name {
        case .rateLimit: .integer(rateLimit ?? 0)
        case .maxConcurrentJobs: .count(maxConcurrentJobs)
        case .maxConnectionsPerHost: .count(maxConnectionsPerHost)
        case .schedule: .strings(schedule.rules.map(\.description))
        case .allowNetwork: .strings(allowedNetworks.map(\.description))
        case .denyNetwork: .strings(deniedNetworks.map(\.description))
        case .allowWebhookNetwork: .strings(webhookNetworks.map(\.description))
        case .allowOriginHost: .strings(hosts.allowed.map(\.description))
        case .denyOriginHost: .strings(hosts.denied.map(\.description))
        case .allowOriginPort: .strings(hosts.ports.map(Self.text))
        case .minimumFreeBytes: .optional(minimumFreeBytes)
        case .maxFileSize: .optional(maxFileSize)
        case .resumeDataMaxBytes: .optional(resumeDataMaxBytes)
        case .maxParts: .optional(maxParts)
        case .eventRetention: .number(eventRetention)
        case .unacknowledgedRetention: .number(unacknowledgedRetention)
        case .finishedRetention: .optional(finishedRetention)
        case .logLevel: .string(logLevel.rawValue)
        }
    }

    /// - Throws: if the value has another type, is out of range or malformed. Then nothing is changed.
    public mutating func set(_ name: SettingName, to value: JSON) throws(SettingFault) {
        switch name {
        case .rateLimit:
            let rate = try value.integer(of: name)
            rateLimit = rate == 0 ? nil : rate
        case .maxConcurrentJobs: maxConcurrentJobs = Int(try value.integer(of: name))
        case .maxConnectionsPerHost: maxConnectionsPerHost = Int(try value.integer(of: name))
        case .schedule: schedule = try value.schedule
        case .allowNetwork: allowedNetworks = try value.networks(of: name)
        case .denyNetwork: deniedNetworks = try value.networks(of: name)
        case .allowWebhookNetwork: webhookNetworks = try value.networks(of: name)
        case .allowOriginHost: hosts.allowed = try value.hosts(of: name)
        case .denyOriginHost: hosts.denied = try value.hosts(of: name)
        case .allowOriginPort: hosts.ports = try value.ports(of: name)
        case .minimumFreeBytes: minimumFreeBytes = try value.integer(of: name)
        case .maxFileSize: maxFileSize = try value.integer(of: name)
        case .resumeDataMaxBytes: resumeDataMaxBytes = try value.integer(of: name)
        case .maxParts: maxParts = Int(try value.integer(of: name))
        case .eventRetention: eventRetention = try value.seconds(of: name)
        case .unacknowledgedRetention: unacknowledgedRetention = try value.seconds(of: name)
        case .finishedRetention: finishedRetention = try value.seconds(of: name)
        case .logLevel: logLevel = try value.level(of: name)
        }
    }

    /// The same values with some replaced.
    ///
    /// - Throws: as `set(_:to:)`.
    func with(_ values: [SettingName: JSON]) throws(SettingFault) -> RunningSettings {
        var settings = self
        for (name, value) in values { try settings.set(name, to: value) }
        return settings
    }

    private static func text(_ ports: ClosedRange<Int>) -> String {
        ports.count == 1 ? "\(ports.lowerBound)" : "\(ports.lowerBound)-\(ports.upperBound)"
    }
}

extension SettingName.Kind {
    fileprivate var integers: ClosedRange<Int64>? {
        switch self {
        case .integer(let range), .bytes(let range): range
        case .seconds, .text, .texts: nil
        }
    }
}

extension JSON {
    fileprivate func integer(of name: SettingName) throws(SettingFault) -> Int64 {
        guard let range = name.kind.integers else { throw SettingFault(name, "is not a number") }
        let kind = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let number = integerValue else { throw SettingFault(name, "must be \(kind)") }
        guard range.contains(number) else { throw SettingFault(name, "is \(number); it must be \(kind)") }
        return number
    }

    fileprivate func seconds(of name: SettingName) throws(SettingFault) -> Double {
        guard case .seconds(let range) = name.kind else { throw SettingFault(name, "is not a time") }
        guard let number = numberValue, range.contains(number) else {
            throw SettingFault(
                name, "must be a number of seconds from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        }
        return number
    }

    fileprivate func texts(of name: SettingName) throws(SettingFault) -> [String] {
        guard let elements = arrayValue else { throw SettingFault(name, "must be a list of strings") }
        guard elements.count <= Self.mostElements else {
            throw SettingFault(name, "has more than \(Self.mostElements) elements")
        }
        let texts = elements.compactMap(\.stringValue)
        guard texts.count == elements.count else { throw SettingFault(name, "must be a list of strings") }
        guard texts.allSatisfy({ $0.utf8.count <= Self.longestElement }) else {
            throw SettingFault(name, "has an element of more than \(Self.longestElement) bytes")
        }
        return texts
    }

    private static let mostElements = 1000
    private static let longestElement = 1000

    fileprivate func networks(of name: SettingName) throws(SettingFault) -> [Network] {
        var networks: [Network] = []
        for text in try texts(of: name) {
            guard let network = Network(text) else {
                throw SettingFault(name, "contains '\(text)'; it takes networks, such as 10.0.0.0/8 or fd00::/8")
            }
            networks.append(network)
        }
        return networks
    }

    /// An international name is converted to ASCII, as in URLs.
    fileprivate func hosts(of name: SettingName) throws(SettingFault) -> [HostPattern] {
        var patterns: [HostPattern] = []
        for text in try texts(of: name) {
            let wildcard = text.hasPrefix("*.") ? "*." : ""
            guard let pattern = HostPattern(wildcard + Self.ascii(String(text.dropFirst(wildcard.count)))) else {
                throw SettingFault(
                    name,
                    "contains '\(text)'; it takes host names such as files.example.com, *.example.com for all names below a name, and addresses"
                )
            }
            patterns.append(pattern)
        }
        return patterns
    }

    private static func ascii(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
        let scheme = "http://"
        return (scheme + name).withASCIIHost.map { String($0.dropFirst(scheme.count)) } ?? name
    }

    fileprivate func ports(of name: SettingName) throws(SettingFault) -> [ClosedRange<Int>] {
        var ports: [ClosedRange<Int>] = []
        for text in try texts(of: name) {
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0).map(Int.init) }
            guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], 1 <= first, first <= last
            else {
                throw SettingFault(
                    name, "contains '\(text)'; it takes ports from 1 to 65535, such as 443 or 8000-8999")
            }
            ports.append(first...last)
        }
        return ports
    }

    fileprivate var schedule: Schedule {
        get throws(SettingFault) {
            var rules: [ScheduleRule] = []
            for text in try texts(of: .schedule) {
                do throws(ScheduleFault) {
                    rules.append(try ScheduleRule(text))
                } catch {
                    throw SettingFault(.schedule, "contains '\(text)': \(error.why)")
                }
            }
            guard rules.count <= Schedule.mostRules else {
                throw SettingFault(.schedule, "has more than \(Schedule.mostRules) rules")
            }
            return Schedule(rules)
        }
    }

    fileprivate func level(of name: SettingName) throws(SettingFault) -> Logger.Level {
        let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        guard let text = stringValue else { throw SettingFault(name, "must be one of \(levels)") }
        guard let level = Logger.Level(rawValue: text.lowercased()) else {
            throw SettingFault(name, "is '\(text)'; it must be one of \(levels)")
        }
        return level
    }
}
