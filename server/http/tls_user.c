/* server/http/tls_user.c - see tls_user.h. */
#include "server/http/tls_user.h"

#include <openssl/objects.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "server/words.h"

enum kind { KIND_SUBJECT, KIND_NAME, KIND_WHOLE };

static const struct row {
    const char *name;
    enum kind kind;
    int of; /* a NID, or a GEN */
} rows[] = {
#define SUBJECT(nid)                     KIND_SUBJECT, nid
#define NAME(gen)                        KIND_NAME, gen
#define WHOLE                            KIND_WHOLE, 0
#define TLS_USER_FROM(name_, kind, what) {#name_, kind},
#include "server/http/tls_user_from.def"
#undef TLS_USER_FROM
#undef WHOLE
#undef NAME
#undef SUBJECT
};

enum rc tls_user_from_parse(const char *text, enum tls_user_from *out, struct err *err)
{
    struct words words;
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        if (!strcmp(text, rows[i].name)) {
            *out = (enum tls_user_from)i;
            return RC_OK;
        }
    }
    return err_set(err, ERR_CONFIG,
                   "--tls-user-from is "
#define TLS_USER_FROM(name, kind, what) #name ", "
#include "server/http/tls_user_from.def"
#undef TLS_USER_FROM
                   "not '%s'.",
                   words_of(slice_str(text), &words));
}

static bool append_string(struct buf *out, const ASN1_STRING *s)
{
    unsigned char *text = NULL;
    int bytes = ASN1_STRING_to_UTF8(&text, s);
    if (bytes < 0) /* of a kind that is no text, or memory is out: who it is cannot be said */
        return true;
    bool ok = buf_append(out, slice_of(text, (size_t)bytes));
    OPENSSL_free(text);
    return ok;
}

static bool append_attribute(struct buf *out, const X509_NAME *subject, int nid)
{
    int at = X509_NAME_get_index_by_NID(subject, nid, -1);
    return at < 0 || append_string(out, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

static bool append_alternative(struct buf *out, const X509 *certificate, int of)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool ok = true;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != of)
            continue;
        ok = buf_append(
            out, slice_of(ASN1_STRING_get0_data(name->d.ia5), (size_t)ASN1_STRING_length(name->d.ia5)));
        break;
    }
    GENERAL_NAMES_free(names);
    return ok;
}

static bool append_whole(struct buf *out, const X509_NAME *subject)
{
    BIO *text = BIO_new(BIO_s_mem());
    char *bytes;
    if (!text)
        return false;
    bool ok = X509_NAME_print_ex(text, subject, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0;
    long n = BIO_get_mem_data(text, &bytes);
    ok = ok && buf_append(out, slice_of(bytes, (size_t)n));
    BIO_free(text);
    return ok;
}

bool tls_user_name(const X509 *certificate, enum tls_user_from from, struct buf *out)
{
    const struct row *row = &rows[from];
    const X509_NAME *subject = X509_get_subject_name(certificate);
    switch (row->kind) {
    case KIND_SUBJECT: return append_attribute(out, subject, row->of);
    case KIND_NAME: return append_alternative(out, certificate, row->of);
    case KIND_WHOLE: return append_whole(out, subject);
    }
    return true;
}
