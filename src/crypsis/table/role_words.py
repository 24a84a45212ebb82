"""Words in the names of columns, by what they are about and by language, and the role that each subject suggests.

Data only: `crypsis.table.profile` reads names with them. Words are written without accents, in small letters; a word
of at least six letters is also found at the beginning or the end of a longer one.
"""

from __future__ import annotations

from crypsis.table.attribute import Role

SUBJECTS: dict[str, dict[str, str]] = {
    "identifier": {
        "short": "id uid uuid guid pid persnr persno personnr mrn nhs nhsno nino ssn dni nif nie bsn ahv cpf rut sin "
        "iban "
        "bic ip url imei vin patid ptid pat_id pat_no rb030 rb030a pb030 caseid case_id respid resp_id studyid "
        "subjid usubjid row rownames rowname rowid rownum rownumber unnamed",
        "english": "identifier subject patient student pupil respondent participant customer client employee "
        "applicant name surname firstname lastname forename fullname passport email mail phone telephone mobile "
        "fax description address street username login person personid patientid licence license plate beneficiary "
        "recordno account",
        "german": "name nachname vorname kennung personalnummer versichertennummer matrikelnummer ausweis telefon "
        "handy "
        "anschrift adresse strasse hausnummer kennzeichen kontonummer",
        "french": "nom prenom identifiant matricule passeport courriel telephone adresse rue nir",
        "spanish": "nombre apellido apellidos identificador identificacion cedula pasaporte correo telefono movil "
        "direccion "
        "calle matricula",
        "portuguese": "nome sobrenome apelido identificador passaporte correio telefone endereco morada rua",
        "italian": "nome cognome identificativo passaporto codicefiscale telefono cellulare indirizzo via targa",
        "dutch": "naam achternaam voornaam identificatie paspoort burgerservicenummer telefoon adres straat kenteken",
    },
    "household": {
        "short": "hh hhid hh_id hhno hhnr hid famid db030 hb030 rx030 ori_hid id uid pid patid ptid subjid hhnum "
        "idhh idhog",
        "english": "household householdid family familyid dwelling dwellingid personid patientid subject patient "
        "couple "
        "pairid clusterid",
        "german": "haushalt haushaltsnummer haushaltsnr haushaltsid familie familiennummer",
        "french": "menage foyer famille logement",
        "spanish": "hogar familia vivienda",
        "portuguese": "agregado domicilio familia",
        "italian": "famiglia nucleo",
        "dutch": "huishouden gezin",
    },
    "weight": {
        "short": "fnlwgt pweight dweight anweight perweight hhweight weight weights wgt rb050 rb060 rb062 db080 "
        "db090 pb040 "
        "pspwght pspwt wtssall wtss finalwt pwgtp wgtp perwt hhwt hwgt pwgt gew hrf phrf",
        "english": "weight weights",
        "german": "gewicht gewichtung hochrechnungsfaktor hochrechnung",
        "french": "poids ponderation",
        "spanish": "peso ponderacion ponderador factorexpansion",
        "portuguese": "peso ponderador",
        "italian": "peso pesocampionario coefficiente",
        "dutch": "gewicht weging weegfactor wegingsfactor",
    },
    "stratum": {
        "short": "strat psu db050 db060 strata stratum",
        "english": "stratum strata stratification",
        "german": "schicht schichtung",
        "french": "strate strates",
        "spanish": "estrato estratos",
        "portuguese": "estrato",
        "italian": "strato strati",
        "dutch": "strata",
    },
    "sexuality": {
        "short": "hiv std sti lgbt msm",
        "english": "sexual sexuality sexually orientation homosexual heterosexual bisexual gay lesbian affair "
        "affairs "
        "contraception contraceptive abortion prostitution",
        "german": "sexualitaet sexuell homosexuell abtreibung verhuetung",
        "french": "sexuel sexuelle sexualite avortement",
        "spanish": "sexualidad homosexual aborto anticonceptivo",
        "portuguese": "sexualidade aborto contracepcao",
        "italian": "sessuale sessualita aborto",
        "dutch": "seksueel seksualiteit abortus",
    },
    "age": {
        "short": "age ages dob yob birth born gebdat gebjahr alter rb080 rb081 rb082 pb130 pb140 yrbrn agegrp agecat "
        "ageyrs agegroup edad eta",
        "english": "age birth birthday birthdate birthyear born anniversary",
        "german": "alter geburt geburtstag geburtsdatum geburtsjahr jahrgang lebensalter",
        "french": "age naissance ne datenaissance",
        "spanish": "edad nacimiento nacido",
        "portuguese": "idade nascimento nascido",
        "italian": "eta nascita nato",
        "dutch": "leeftijd geboorte geboortedatum geboortejaar",
    },
    "sex": {
        "short": "sex sexe sexo sesso gndr gender rb090 pb150 male female fem",
        "english": "sex gender male female man woman men women boy girl",
        "german": "geschlecht maennlich weiblich mann frau",
        "french": "sexe genre homme femme masculin feminin",
        "spanish": "sexo genero hombre mujer varon",
        "portuguese": "sexo genero homem mulher",
        "italian": "sesso genere maschio femmina uomo donna",
        "dutch": "geslacht man vrouw",
    },
    "race": {
        "short": "race afam hisp hispan nonwhite nwhite afroam ethn immigrant foreign foreigner pb210 pb220 pb220a "
        "native "
        "skin",
        "english": "race racial ethnicity ethnic black white hispanic latino latina asian caucasian african "
        "indigenous "
        "aboriginal minority nationality citizenship citizen migrant migration nation country origin tribe caste",
        "german": "nationalitaet staatsangehoerigkeit herkunft auslaender migration migrationshintergrund ethnie "
        "geburtsland",
        "french": "nationalite ethnie origine immigre etranger pays",
        "spanish": "raza etnia nacionalidad ciudadania extranjero pais indigena",
        "portuguese": "raca etnia cor nacionalidade estrangeiro pais",
        "italian": "razza etnia nazionalita cittadinanza straniero paese",
        "dutch": "ras etniciteit nationaliteit herkomst land",
    },
    "place": {
        "short": "zip plz cp cap zipcode postcode postal nuts nuts2 nuts3 lsoa msoa fips geo geoid gps lat lon lng "
        "long "
        "latitude longitude db020 db040 db100 smsa msa urban rural urbrur town gemeinde pop area south north east "
        "west",
        "english": "region district province state county city town village municipality community commune "
        "neighbourhood "
        "neighborhood tract ward block parish territory place location residence site hospital_id clinic centre "
        "center provider provnum school_id population density median zipcode postcode coordinate coordinates",
        "german": "region bezirk provinz bundesland land kreis stadt ort wohnort gemeinde postleitzahl landkreis "
        "kanton "
        "stadtteil quartier koordinate breitengrad laengengrad",
        "french": "departement commune ville quartier canton codepostal residence lieu arrondissement",
        "spanish": "provincia comarca ciudad municipio barrio codigopostal lugar residencia comunidad distrito "
        "departamento",
        "portuguese": "provincia concelho freguesia cidade municipio bairro codigopostal distrito estado lugar",
        "italian": "regione provincia comune citta quartiere residenza luogo",
        "dutch": "regio provincie gemeente stad wijk buurt woonplaats plaats",
    },
    "event": {
        "short": "adm_dt disch_dt admdate dischdate dod los dth death died dead futime survtime os_time followup",
        "english": "date admission admitted discharge death died dead deceased alive survival survive survived "
        "survivor "
        "mortality interview enrolment enrollment entry exit",
        "german": "datum aufnahme aufnahmedatum entlassung entlassungsdatum tod todesdatum verstorben gestorben "
        "verweildauer",
        "french": "date admission sortie deces decede mort",
        "spanish": "fecha ingreso alta fallecimiento fallecido defuncion muerte",
        "portuguese": "data admissao alta obito falecido morte",
        "italian": "data ricovero dimissione decesso deceduto morte",
        "dutch": "datum opname ontslag overlijden overleden",
    },
    "health": {
        "short": "icd icd9 icd10 dx diag drg bmi sbp dbp bp hba1c ldl hdl chol gcs copd chd cvd tb hb hgb crp egfr "
        "psa "
        "ecg ekg mri rx tx meds nyha asa apache ph010 ph020 ph030 ph040 smoke smoker smokes cigs cig alc alcohol "
        "drink drinks adl iadl preg premie gestation bwt bwght trt tumor tumour stroke asthma fever cough rash",
        "english": "diagnosis diagnoses disease illness condition treatment therapy drug drugs medication medicine "
        "symptom "
        "symptoms disability disabled handicap health healthy chronic diabetes diabetic angina cancer carcinoma "
        "infection infected infarction hypertension cholesterol glucose insulin pressure creatinine bilirubin "
        "albumin "
        "platelet platelets haemoglobin hemoglobin pulse heartrate surgery operation transplant biopsy metastasis "
        "malignant relapse recurrence remission depression depress depressive anxiety stress psychosis schizophrenia "
        "autism dementia pain injury fracture vomiting nausea amnesia consciousness seizure pregnant pregnancy "
        "premature birthweight lowbirthweight miscarriage smoking tobacco cigarettes cigarette addiction "
        "overdose suicide hospitalised hospitalized hospitalisation hospital emergency doctor physician visits "
        "prescription prescriptions vaccine vaccinated allergy steroids steroid antibiotics chemo chemotherapy "
        "radiation hormone hormon dose dosage placebo onset disorder vision hearing limitation insulin fatigue "
        "wellbeing genotype mutation gene",
        "german": "diagnose krankheit erkrankung befund behandlung therapie medikament medikamente symptom "
        "behinderung "
        "gesundheit chronisch zucker krebs blutdruck raucher rauchen alkohol schwanger schwangerschaft schmerz "
        "unfall "
        "arztbesuche krankenhaus operation depression impfung groessegewicht",
        "french": "diagnostic maladie traitement therapie medicament symptome handicap sante chronique diabete "
        "cancer "
        "tension fumeur fume tabac alcool enceinte grossesse douleur blessure hospitalisation vaccin",
        "spanish": "diagnostico enfermedad tratamiento terapia medicamento sintoma discapacidad salud cronica "
        "cronico "
        "diabetico cancer fumador fuma tabaco embarazo embarazada dolor lesion hospitalizacion vacuna",
        "portuguese": "diagnostico doenca tratamento terapia medicamento sintoma deficiencia saude cronica diabete "
        "cancro "
        "fumador fumante tabaco gravida gravidez dor lesao internamento vacina",
        "italian": "diagnosi malattia trattamento terapia farmaco sintomo disabilita salute cronica cronico diabete "
        "cancro "
        "tumore fumatore fumo gravidanza dolore lesione ricoverato vaccino",
        "dutch": "diagnose ziekte behandeling therapie medicijn medicatie symptoom handicap gezondheid chronisch "
        "kanker "
        "bloeddruk roker rookt zwanger zwangerschap pijn letsel ziekenhuis vaccinatie",
    },
    "money": {
        "short": "inc incm incom wage wages lwage pay eqinc eqincome hy010 hy020 hy022 hy023 py010 py010n py050n ui "
        "rent "
        "cash tip bill spend expend gdp",
        "english": "income salary wage wages earnings earning pay payment revenue profit tax taxes debt debts loan "
        "loans "
        "credit wealth assets asset capital expenditure expenses expense spending cost costs price savings saving "
        "poverty poor pension benefit benefits welfare allowance bonus overdrawn balance amount rent "
        "hardship turnover",
        "german": "einkommen gehalt lohn verdienst steuer schulden kredit vermoegen ausgaben kosten ersparnisse "
        "armut rente "
        "sozialhilfe kindergeld miete umsatz",
        "french": "revenu revenus salaire traitements impot impots dette dettes credit patrimoine depense depenses "
        "epargne "
        "pauvrete pension retraite allocation allocations loyer",
        "spanish": "ingreso ingresos salario sueldo renta impuesto impuestos deuda deudas credito patrimonio gasto "
        "gastos "
        "ahorro ahorros pobreza pension prestacion alquiler",
        "portuguese": "rendimento rendimentos renda salario ordenado imposto impostos divida dividas credito "
        "patrimonio "
        "despesa despesas poupanca pobreza pensao subsidio aluguer",
        "italian": "reddito redditi salario stipendio retribuzione imposta imposte debito debiti credito patrimonio "
        "spesa "
        "spese risparmio risparmi poverta pensione sussidio affitto",
        "dutch": "inkomen salaris loon belasting schuld schulden krediet vermogen uitgaven kosten spaargeld armoede "
        "pensioen "
        "uitkering huur",
    },
    "opinion": {
        "short": "vote voted opin attit",
        "english": "religion religious religiosity church party vote voted voting voter ideology political politics "
        "opinion "
        "attitude attitudes belief beliefs trust satisfaction satisfied happiness happy approve approval agree "
        "importance preference prejudice tolerance faith denomination personality",
        "german": "religion konfession partei wahl gewaehlt meinung einstellung vertrauen zufriedenheit "
        "weltanschauung "
        "gewerkschaftsmitglied",
        "french": "religion parti vote opinion attitude croyance confiance satisfaction bonheur",
        "spanish": "religion partido voto opinion actitud creencia confianza satisfaccion felicidad ideologia",
        "portuguese": "religiao partido voto opiniao atitude crenca confianca satisfacao felicidade",
        "italian": "religione partito voto opinione atteggiamento credenza fiducia soddisfazione felicita",
        "dutch": "religie geloof partij mening houding vertrouwen tevredenheid geluk",
    },
    "crime": {
        "short": "arrest arrests jail felony recid",
        "english": "crime criminal conviction convicted convictions offence offense offences arrested arrest prison "
        "prisoner "
        "sentence sentenced parole probation guilty fraud violence victim assault theft police recidivism punishment "
        "incarcerated detention",
        "german": "straftat delikt verurteilung vorstrafe gefaengnis haft opfer gewalt",
        "french": "crime delit condamnation prison peine victime violence",
        "spanish": "crimen delito condena prision victima violencia",
        "portuguese": "crime delito condenacao prisao vitima violencia",
        "italian": "crimine reato condanna carcere vittima violenza",
        "dutch": "misdrijf delict veroordeling gevangenis slachtoffer geweld",
    },
    "outcome": {
        "short": "iq gpa sat act gre score scores test mmse grade grades",
        "english": "outcome outcomes score scores result results grade grades marks exam examination achievement "
        "performance cognition cognitive intelligence memory attention verbal ability reading",
        "german": "ergebnis ergebnisse punktzahl noten leistung",
        "french": "resultat resultats performance",
        "spanish": "resultado resultados puntuacion rendimientoescolar",
        "portuguese": "resultado resultados pontuacao",
        "italian": "risultato risultati punteggio",
        "dutch": "resultaat resultaten cijfer cijfers prestatie",
    },
    "life": {
        "short": "job occ occp occup isco nace ed educ edu school schooling marr married single div divorced widow "
        "widowed "
        "kids sibs nsibs hsize hhsize famsize rooms emp empl employed unemp unempl exper tenure union major hours "
        "hrs "
        "pl030 pl031 pl040 pl050 pl051 pl060 pl111 pb190 pb200 pe010 pe040 civil marital relat relation head owner "
        "retired student height size language lang kk parity team position hmo type car veh electcon",
        "english": "occupation job profession employer employment employed unemployed unemployment industry sector "
        "workclass "
        "work worker experience education educated degree school schooling college university graduate diploma major "
        "marital marriage married divorced widowed separated civil spouse husband wife partner household family "
        "children child kids siblings sibling brothers sisters mother father parents language hours fulltime "
        "parttime "
        "selfemployed height weight wgt tenure seniority rank retired retirement military veteran membership union "
        "dwelling house housing rooms roof walls toilet water electricity vehicle owner ownership homeowner tenant "
        "mortgage "
        "position department team plural twin twins",
        "german": "beruf taetigkeit arbeitgeber beschaeftigung erwerbstaetig erwerbsstatus arbeitslos branche "
        "bildung "
        "schulabschluss schule abschluss studium familienstand verheiratet ledig geschieden verwitwet ehe kinder "
        "geschwister haushaltsgroesse sprache arbeitszeit stunden koerpergroesse gewicht wohnung zimmer hypothek",
        "french": "profession metier emploi employeur chomage secteur education diplome ecole etudes matrimonial "
        "marie "
        "celibataire divorce veuf conjoint enfants langue heures taille poids logement",
        "spanish": "ocupacion profesion empleo empleador trabajo paro sector educacion estudios titulo escuela "
        "estadocivil "
        "casado soltero divorciado viudo conyuge hijos idioma horas altura estatura peso vivienda hipoteca",
        "portuguese": "ocupacao profissao emprego empregador trabalho desemprego setor educacao escolaridade escola "
        "estadocivil casado solteiro divorciado viuvo conjuge filhos lingua horas altura peso habitacao",
        "italian": "occupazione professione lavoro impiego disoccupazione settore istruzione titolo scuola "
        "statocivile "
        "coniugato celibe nubile divorziato vedovo coniuge figli lingua ore altezza statura peso abitazione mutuo",
        "dutch": "beroep werk werkgever werkloos sector opleiding onderwijs diploma school burgerlijke staat gehuwd "
        "ongehuwd gescheiden weduwe partner kinderen taal uren lengte gewicht woning hypotheek",
    },
}
"""What the words in names are about, and in which language; `short` are abbreviations of surveys and hospital "
"files."""

ROLE_OF: dict[str, Role] = {
    "identifier": Role.IDENTIFIER,
    "household": Role.HOUSEHOLD,
    "weight": Role.WEIGHT,
    "stratum": Role.STRATUM,
    "sexuality": Role.CONFIDENTIAL,
    "age": Role.QUASI_IDENTIFIER,
    "sex": Role.QUASI_IDENTIFIER,
    "race": Role.QUASI_IDENTIFIER,
    "place": Role.QUASI_IDENTIFIER,
    "event": Role.QUASI_IDENTIFIER,
    "health": Role.CONFIDENTIAL,
    "money": Role.CONFIDENTIAL,
    "opinion": Role.CONFIDENTIAL,
    "crime": Role.CONFIDENTIAL,
    "outcome": Role.CONFIDENTIAL,
    "life": Role.QUASI_IDENTIFIER,
}
"""The role each subject suggests. The order decides where a name has words of several: what identifies first, then who
and where somebody is, then what nobody should learn, then how somebody lives."""

PUBLIC_SUBJECTS = frozenset({"crime"})
"""Confidential subjects of which there are public records, such as those of courts, so that people may be found by
them."""

AFFIXES: dict[str, str] = {
    "before": "m f n l h ln log mo fa mom dad moth fath mother father hus wife sp child kid tot total avg mean num "
    "no "
    "nr is has ever cur hh fam non un sum max min yr yrs year",
    "after": "s a sq yrs yr years grp group cat code cd num no nr lev level lvl flag ind dt date ing ed d mom dad "
    "hed head "
    "entry x",
}
"""Parts that may stand before or after a known word within one word: mage, meduc, lwage, nsibs, expersq."""

NOT_AGES = ("agent", "agents", "agency", "agencies", "agenda", "agree", "agreed", "agreement", "agr", "agri", "aggr")
"""Words that begin like an age and are none."""

NO_AFFIX = frozenset("learning learned learn".split())
"""Words that look like another one with an affix and are none: no earning is in learning."""

SEX_VALUES: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "m f male female man woman men women boy girl boys girls males females",
        "m w d maennlich weiblich divers mann frau",
        "h f homme femme masculin feminin garcon fille",
        "h m hombre mujer varon masculino femenino v",
        "m f homem mulher masculino feminino",
        "m f maschio femmina uomo donna maschile femminile",
        "m v man vrouw mannelijk vrouwelijk",
    )
)
"""What sexes are called in each language; two of one language, and no other value, are a sex."""
NO_ANSWER = frozenset("other unknown na none diverse x u undetermined missing".split())
"""Values beside those of a sex."""

VALUE_WORDS: dict[str, tuple[str, str]] = {
    "race": (
        "race",
        "white black asian hispanic latino latina caucasian indigenous nonwhite african native minority mixed "
        "eskimo indian pacific",
    ),
    "marital status": (
        "life",
        "married single divorced widowed widow separated unmarried cohabiting nevermarried verheiratet ledig "
        "geschieden "
        "verwitwet marie celibataire veuf casado soltero divorciado viudo solteiro coniugato celibe gehuwd ongehuwd",
    ),
    "education": (
        "life",
        "primary secondary tertiary highschool college bachelor bachelors master masters doctorate phd graduate "
        "postgraduate vocational elementary university",
    ),
    "place": ("place", "urban rural suburban city town village north south east west northeast southeast midwest"),
    "survival": ("event", "alive dead died deceased survived lebend verstorben vivant vivo fallecido"),
    "opinion": (
        "opinion",
        "agree disagree stronglyagree stronglydisagree neither neutral favour favor oppose approve disapprove "
        "satisfied "
        "dissatisfied",
    ),
    "trial arm": ("health", "placebo control treatment treated intervention"),
    "finding": ("health", "benign malignant positive negative normal abnormal mild moderate severe absent present"),
    "smoking": ("health", "smoker nonsmoker exsmoker never former current"),
}
"""Values that say by themselves what a column is about: what it is called, its subject, the words."""

SURELY_WEIGHTS = (
    "fnlwgt pweight dweight anweight perweight hhweight rb050 rb060 rb062 db080 db090 pb040 pspwght wtssall finalwt "
    "pwgtp "
    "wgtp perwt hhwt hwgt pwgt phrf hrf hochrechnungsfaktor ponderation ponderacion ponderador weegfactor"
)
"""Names of sampling weights alone; others are also names of what scales show."""
SURVEY = (
    "sample sampling survey household households person population final design calibrated calibration expansion "
    "grossing poststratification frequency analysis probability stichprobe echantillon muestra amostra campione "
    "steekproef"
)
"""Words that make a weight a sampling weight."""
MONEY = (
    "income salary wages earnings revenue profit credit wealth assets capital expenditure einkommen gehalt revenu "
    "salaire "
    "ingreso ingresos salario rendimento reddito inkomen salaris"
)
"""Words for amounts; inside a longer word they mean one only if the values are amounts."""
OWN_NUMBERS = frozenset("id pid uid subj subjid subject person personid patid ptid patient patientid hhid".split())
"""Words of which the whole name consists of a column that numbers the people or households of a file."""
NUMBERINGS = frozenset({"id", "identifier", "key", "no", "nr", "num", "number", "code", "nummer", "numero"})
"""Words that may follow the word for what is numbered."""
CODED = (
    "sex gender race ethnicity ethnic nationality citizenship country region district province state county city "
    "town "
    "municipality zip zipcode postcode postal plz occupation job profession industry workclass education degree "
    "marital civil married religion party diagnosis icd disease condition code class type status category group "
    "geschlecht sexe sexo sesso geslacht beruf bundesland familienstand nationalitaet staatsangehoerigkeit land "
    "kreis "
    "gemeinde gndr"
)
"""Words in the name of a column whose whole numbers are codes and not quantities."""
COUNTED = (
    "age year years month months week weeks day days hour hours minute minutes time number num nr count counts size "
    "amount quantity total sum times rooms children kids persons members siblings cylinders score points rating rank "
    "grade level degree stage income price cost pay wage rate weight height width length alter jahr jahre monate "
    "tage "
    "stunden anzahl kinder edad anos hijos horas idade filhos eta anni figli leeftijd jaren kinderen"
)
"""Words in the name of a column whose whole numbers are counted, measured or ranked."""
ORDERED = "education degree grade level severity satisfaction rating stage bildung opleiding"
"""Words in the name of a column whose categories often have an order."""
