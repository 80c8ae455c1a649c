import Downloads
import Foundation
import Storage

/// Forgets resume data that has expired, or that there is no room for: first the promise, then the file, so that no
/// promise is ever without its bytes.
struct PartExpirer: Sendable {
    let services: EngineServices
    /// Bytes; nil: any number.
    let limit: Int64?

    func run() async {
        while !Task.isCancelled {
            let next = await forget()
            await services.store.work(.parts).wait(until: next, by: services.time)
        }
    }

    private func forget() async -> Date? {
        do {
            let (dropped, next) = try await services.store.expireParts(over: limit)
            for part in dropped { services.folder.removePart(part) }
            if !dropped.isEmpty { services.log.info("Resume data forgotten: \(dropped.count) parts.") }
            return next
        } catch {
            services.log.error("Could not forget resume data: \(error). Trying again in a second.")
            return services.time.now.addingTimeInterval(1)
        }
    }
}
