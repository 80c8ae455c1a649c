import ArgumentParser

enum PriorityArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case low, normal, high }

enum ConflictArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case rename, error, replace }

enum HelpArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case space, credentials, url }

enum JobStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case queued, running, waiting, paused, succeeded, failed, cancelled
}

enum DeliveryStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case pending, acknowledged, exhausted, cancelled
}

enum ScopeArgument: String, ExpressibleByArgument, CaseIterable, Sendable { case read, jobs, sessions, admin }
