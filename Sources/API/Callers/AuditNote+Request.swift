import Downloads
import HTTPServer

extension AuditNote {
    /// A call of aria2's interface.
    ///
    /// - Parameter caller: nil: the call was refused before its caller was known.
    init(_ head: RequestHead, ofAria2 caller: Caller?) {
        self.init(
            caller: caller?.label, name: caller?.token?.name, address: head.clientAddress,
            action: "\(head.method.rawValue) \(Aria2Routes.path)", target: nil)
    }

    /// - Parameters:
    ///   - caller: nil: the request was refused before its caller was known.
    ///   - match: nil: the request was refused before its route was known.
    init(_ head: RequestHead, _ caller: Caller?, _ match: RouteMatch?) {
        let action = match.map { "\($0.route.method.rawValue) /\($0.route.pattern.joined(separator: "/"))" }
        self.init(
            caller: caller?.label, name: caller?.token?.name, address: head.clientAddress, action: action ?? "request",
            // What an unknown caller sends is not stored.
            target: caller == nil ? nil : match?.target)
    }
}

extension RouteMatch {
    /// The names and identifiers in the path; nil if it has none, or has other text.
    fileprivate var target: String? {
        let names = route.parameters.map { String(path[$0.position]) }
        guard !names.isEmpty, names.allSatisfy({ Name($0) != nil }) else { return nil }
        return names.joined(separator: "/")
    }
}

extension RequestContext {
    var auditNote: AuditNote { AuditNote(head, caller, match) }
}

extension Problem.Kind {
    /// Whether the audit log counts requests that are refused for this reason.
    var isAudited: Bool {
        switch self {
        case .unauthorized, .forbidden, .foreignOrigin, .misdirectedRequest, .quotaExceeded: true
        case .malformedRequest, .malformedJSON, .notFound, .methodNotAllowed, .stateConflict, .sessionFinishing,
            .fileGone, .eventsPruned, .preconditionFailed, .headTooLarge, .bodyTooLarge, .unsupportedMediaType,
            .rangeNotSatisfiable, .invalidValue, .unknownField, .missingField, .unknownSession, .idempotencyKeyReused,
            .notImplemented, .internalError, .unavailable, .outOfSpace, .answerTooLarge:
            false
        }
    }
}
