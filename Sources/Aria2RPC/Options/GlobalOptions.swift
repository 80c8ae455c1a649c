import Formats

/// The options of `aria2.changeGlobalOption`.
struct GlobalOptions {
    private var concurrent: String?
    private var rate: String?
    private(set) var ignoredNames: [String] = []

    init(_ object: JSONObject) {
        for (name, value) in object.members {
            switch name {
            case "max-concurrent-downloads": concurrent = value.stringValue
            case "max-overall-download-limit": rate = value.stringValue
            default:
                if ignoredNames.count < 32, name.utf8.count <= 64, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                {
                    ignoredNames.append(name)
                }
            }
        }
    }

    /// The new limits. Options that the request does not name change nothing.
    func change() throws(RPCError) -> ServiceLimits.Change {
        var change = ServiceLimits.Change()
        if let concurrent {
            guard concurrent.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(concurrent),
                (1...10_000).contains(number)
            else { throw Self.problem("max-concurrent-downloads", "It takes a number from 1 to 10000.") }
            change.maxConcurrentJobs = number
        }
        if let rate {
            guard let bytes = SizeText.bytes(rate), bytes <= 1 << 40 else {
                throw Self.problem("max-overall-download-limit", "It takes bytes per second, such as 200K or 1M.")
            }
            change.rateLimit = bytes
        }
        return change
    }

    private static func problem(_ name: String, _ why: String) -> RPCError {
        RPCError("We encountered a problem while processing the option '--\(name)'. \(why)")
    }
}
